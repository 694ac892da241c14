// Draws a form from the model's fields. Every control is a native element with a label.
// Values are sent to Python while the user types or drags.

function element(tag, properties = {}, children = []) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  // Without this attribute on the focused element, JupyterLab and Notebook treat arrow and
  // letter keys as their own shortcuts.
  if (["input", "select", "button", "summary"].includes(tag)) {
    made.setAttribute("data-lm-suppress-shortcuts", "true");
  }
  made.append(...children);
  return made;
}

// Numbers each entry, so that no entry is lost when several are sent at once, and `show` does
// not overwrite an entry that Python has not processed yet with the older value.
function send(model, name, value) {
  const entered = model.get("entered");
  const n = 1 + Math.max(0, ...Object.values(entered).map(([, number]) => number));
  model.set("entered", { ...entered, [name]: [value, n] });
  model.save_changes();
}

function show(model, fields) {
  for (const [name, value] of Object.entries(model.get("values"))) {
    if ((model.get("entered")[name]?.[1] ?? 0) <= model.get("heard")) fields[name]?.show(value);
  }
}

function labelled(field, id, ...inputs) {
  const label = element("label", { htmlFor: id, textContent: field.label });
  return element("div", { className: "cvnb-row" }, [label, ...inputs]);
}

// A row of a setting: its name, how its values are given, and a field for each of their parts.
function settingRow(field, [name, kind, texts], labels, act) {
  const label = labels.get(name) ?? name;
  const keyed = (key, made) => { made.dataset.key = `${name}/${key}`; return made; };
  const kinds = Object.entries(field.kinds)
    .filter(([value]) => (kind === "value") === (value === "value"))
    .map(([value, [text]]) => element("option", { value, textContent: text }));
  const how = keyed("kind", element("select", { ariaLabel: `${label}: how it is given` }, kinds));
  how.value = kind;
  how.addEventListener("change", () => act.turn(name, how.value));
  const words = field.kinds[kind][1];
  const inputs = texts.map((text, i) => keyed(i, element("input", {
    type: "text", value: text, spellcheck: false, ariaLabel: `${label}: ${words[i]}`,
    inputMode: words.length > 1 ? "decimal" : "text", title: words[i],
    oninput: () => act.later(), onchange: () => act.now(),
  })));
  const part = (input, i) => element("span", { className: "cvnb-part" }, [
    element("small", { textContent: words[i] }), input,
  ]);
  const parts = words.length === 1 ? inputs : inputs.map(part);
  const remove = keyed("remove", element("button", {
    type: "button", textContent: "×", ariaLabel: `remove ${label}`, title: `remove ${label}`,
    onclick: () => act.remove(name),
  }));
  const head = element("span", { className: "cvnb-name", textContent: label, title: name });
  const node = element("div", { className: "cvnb-setting", role: "group", ariaLabel: label }, [
    element("div", { className: "cvnb-head" }, [head, how, remove]),
    element("div", { className: "cvnb-parts" }, parts),
  ]);
  return { node, name, kind, label, inputs };
}

// Each maker returns the element of a field (node) and the functions show(value) and enable(yes);
// a choice and the rows of settings also have offer(choices).
const makers = {
  number(field, id, change) {
    const range = { min: field.min, max: field.max, step: field.step };
    const read = (input) => {
      const value = input.valueAsNumber;
      if (Number.isFinite(value)) change(field.step % 1 ? value : Math.round(value));
    };
    let wanted = field.min;
    const typed = element("input", {
      type: "number", id, min: field.min, step: "any",
      oninput: () => read(typed),
      onblur: () => { typed.value = wanted; },
    });
    const slider = element("input", {
      type: "range", ...range, ariaLabel: `${field.label}, slider`,
      oninput: () => read(slider),
    });
    const inputs = field.slider ? [typed, slider] : [typed];
    return {
      node: labelled(field, id, ...inputs),
      show: (value) => {
        wanted = value;
        for (const input of inputs) {
          const isFocused = input === document.activeElement;
          if (input.valueAsNumber !== value && !isFocused) input.value = value;
        }
      },
      enable: (yes) => inputs.forEach((input) => { input.disabled = !yes; }),
    };
  },
  choice(field, id, change) {
    const select = element("select", { id, onchange: () => change(select.value) });
    let wanted = "";
    return {
      node: labelled(field, id, select),
      show: (value) => { wanted = value; select.value = value; },
      enable: (yes) => { select.disabled = !yes; },
      offer: (choices) => {
        const options = choices.map(([value, label]) => (
          element("option", { value, textContent: label })
        ));
        select.replaceChildren(...options);
        select.value = wanted;
      },
    };
  },
  check(field, id, change) {
    const box = element("input", { type: "checkbox", id, onchange: () => change(box.checked) });
    return {
      node: labelled(field, id, box),
      show: (value) => { box.checked = value; },
      enable: (yes) => { box.disabled = !yes; },
    };
  },
  text(field, id, change) {
    let waiting = 0;
    const input = element("input", {
      type: "text", id, spellcheck: false, placeholder: field.placeholder ?? "",
      oninput: () => {
        clearTimeout(waiting);
        waiting = setTimeout(() => change(input.value), 300);
      },
      onchange: () => {
        clearTimeout(waiting);
        change(input.value);
      },
    });
    return {
      node: labelled(field, id, input),
      show: (value) => {
        if (input.value !== value && document.activeElement !== input) input.value = value;
      },
      enable: (yes) => { input.disabled = !yes; },
    };
  },
  // The value is a list of [name, kind, texts], or null if the settings are no rows.
  rows(field, id, change) {
    let rows = [], labels = new Map(), waiting = 0, isEnabled = true;
    const list = element("div");
    const add = element("select", { id, onchange: () => {
      if (add.value) act.change([...values(), [add.value, "", []]]);
    } });
    const values = () => rows.map(({ name, kind, inputs }) => (
      [name, kind, inputs.map(({ value }) => value)]
    ));
    const act = {
      change(value) { clearTimeout(waiting); change(value); },
      now() { act.change(values()); },
      later() { clearTimeout(waiting); waiting = setTimeout(act.now, 300); },
      turn(name, kind) {
        act.change(values().map((row) => (row[0] === name ? [name, kind, []] : row)));
      },
      remove(name) { act.change(values().filter((row) => row[0] !== name)); add.focus(); },
    };
    const isSameRow = (row, [name, kind, texts]) => (
      row.name === name && row.kind === kind && row.inputs.length === texts.length
      && row.label === (labels.get(name) ?? name)
    );
    const isSame = (value) => (
      value.length === rows.length && value.every((one, i) => isSameRow(rows[i], one))
    );
    const rebuild = (value) => {
      const key = list.contains(document.activeElement) ? document.activeElement.dataset.key : "";
      rows = value.map((row) => settingRow(field, row, labels, act));
      list.replaceChildren(...rows.map(({ node }) => node));
      const again = [...list.querySelectorAll("[data-key]")];
      if (key) again.find((one) => one.dataset.key === key)?.focus();
    };
    const choose = () => {
      const taken = rows.map(({ name }) => name);
      const left = [...labels].filter(([name]) => name && !taken.includes(name));
      const first = ["", rows.length ? "another…" : labels.get("")];
      add.replaceChildren(...[first, ...left].map(([value, label]) => (
        element("option", { value, textContent: label })
      )));
      add.value = "";
      adding.hidden = !left.length || !isEnabled;
    };
    const label = element("label", { htmlFor: id, textContent: "Add a setting" });
    const adding = element("div", { className: "cvnb-row" }, [label, add]);
    let wanted = [];
    return {
      node: element("div", { className: "cvnb-settings", role: "group", ariaLabel: field.label }, [
        list, adding,
      ]),
      show: (value) => {
        wanted = value;
        if (!isSame(value ?? [])) rebuild(value ?? []);
        rows.forEach(({ inputs }, i) => inputs.forEach((input, j) => {
          const text = wanted[i][2][j];
          if (input !== document.activeElement && input.value !== text) input.value = text;
        }));
        list.hidden = value === null;
        choose();
        if (value === null) adding.hidden = true;
      },
      enable: (yes) => { isEnabled = yes; choose(); },
      offer: (choices) => {
        labels = new Map(choices);
        if (!isSame(wanted ?? [])) rebuild(wanted ?? []);
        choose();
        if (wanted === null) adding.hidden = true;
      },
    };
  },
  // field.rows and field.columns are lists of [value, label]. The user chooses one cell; its
  // value is "row/column".
  table(field, id, change) {
    const cells = new Map();
    const cell = ([row, outside], [column, inside]) => {
      const value = `${row}/${column}`;
      if (field.empty.includes(value)) return element("td");
      const words = `${field.row}: ${outside}, ${field.column}: ${inside}`;
      const radio = element("input", {
        type: "radio", name: id, ariaLabel: words, title: words,
        onchange: () => change(value),
      });
      cells.set(value, radio);
      return element("td", {}, [radio]);
    };
    const labels = ["", ...field.columns.map(([, label]) => label)];
    const head = labels.map((label) => element("th", { scope: "col", textContent: label }));
    const body = field.rows.map((row) => element("tr", {}, [
      element("th", { scope: "row", textContent: row[1] }),
      ...field.columns.map((column) => cell(row, column)),
    ]));
    const caption = element("caption", { textContent: field.label });
    return {
      node: element("table", { className: "cvnb-table" }, [
        caption,
        element("thead", {}, [element("tr", {}, head)]),
        element("tbody", {}, body),
      ]),
      show: (value) => {
        for (const [name, radio] of cells) radio.checked = name === value;
      },
      enable: (yes) => {
        for (const radio of cells.values()) radio.disabled = !yes;
      },
    };
  },
};

function controls(model, prefix) {
  const made = {};
  for (const field of model.get("fields")) {
    const change = (value) => send(model, field.name, value);
    made[field.name] = makers[field.kind](field, `${prefix}-${field.name}`, change);
  }
  return made;
}

// Fields under the headings and inside the folds that they name; a field that goes with a button
// comes after the buttons.
function arranged(model, fields, prefix) {
  const places = new Map(), nodes = [];
  for (const { name, section = "", fold = "", action } of model.get("fields")) {
    if (action) continue;
    if (section && !places.has(section)) {
      const id = `${prefix}-section-${places.size}`;
      const head = element("div", { id, className: "cvnb-section", textContent: section });
      head.setAttribute("role", "heading");
      head.setAttribute("aria-level", "3");
      const place = element("div", { role: "group" }, [head]);
      place.setAttribute("aria-labelledby", id);
      places.set(section, place);
      nodes.push(place);
    }
    const key = `${section}/${fold}`;
    if (fold && !places.has(key)) {
      places.set(key, element("details", {}, [element("summary", { textContent: fold })]));
      places.get(section).append(places.get(key));
    }
    const place = places.get(fold ? key : section);
    if (place) place.append(fields[name].node);
    else nodes.push(fields[name].node);
  }
  return nodes;
}

// Puts the message after the control that it is about, and opens the fold of that control.
function sayAt(node, alert, home) {
  for (const one of document.querySelectorAll(`[aria-describedby="${alert.id}"]`)) {
    one.removeAttribute("aria-describedby");
    one.removeAttribute("aria-invalid");
  }
  if (!node || node.hidden || !alert.textContent) {
    if (alert.previousElementSibling !== home) home.after(alert);
    return;
  }
  if (node.nextElementSibling !== alert) node.after(alert);
  if (node.parentElement.tagName === "DETAILS") node.parentElement.open = true;
  for (const one of node.querySelectorAll("input, select")) {
    one.setAttribute("aria-describedby", alert.id);
    one.setAttribute("aria-invalid", "true");
  }
}

async function copy(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    shown.textContent = "Copied.";
  } catch {
    shown.textContent = "The browser does not let the page copy; the text is shown below.";
  }
}

function render({ model, el }) {
  // Random, because each widget on a page runs this script anew and ids must differ.
  const prefix = `cvnb-form-${Math.random().toString(36).slice(2)}`;
  const fields = controls(model, prefix);
  const alert = element("div", { role: "alert", className: "cvnb-alert", id: `${prefix}-alert` });
  const home = element("div");
  const bar = element("progress", { max: 1, ariaLabel: "share of the run that is done" });
  const words = element("span");
  const status = element("div", { role: "status", className: "cvnb-status" }, [bar, words]);
  const buttons = element("div", { className: "cvnb-buttons" });
  const copied = element("span", { role: "status", className: "cvnb-copied" });
  const copies = element("div", { className: "cvnb-buttons" });
  const texts = element("div", { className: "cvnb-codes" });
  const copying = element("div", {}, [copies, copied, texts]);
  const made = new Map(), withButton = model.get("fields").filter(({ action }) => action);

  const on = (names, show) => {
    for (const name of names) model.on(`change:${name}`, show);
    show();
  };
  on(["values", "heard"], () => show(model, fields));
  on(["choices"], () => {
    for (const [name, choices] of Object.entries(model.get("choices"))) {
      fields[name]?.offer(choices);
    }
  });
  on(["disabled"], () => {
    const disabled = model.get("disabled");
    for (const [name, field] of Object.entries(fields)) {
      field.enable(!disabled.includes(name));
      field.node.hidden = disabled.includes(name);
    }
  });
  on(["error", "error_at", "disabled"], () => {
    if (alert.textContent !== model.get("error")) alert.textContent = model.get("error");
    sayAt(fields[model.get("error_at")]?.node, alert, home);
  });
  on(["status", "share", "busy"], () => {
    bar.style.visibility = model.get("busy") ? "visible" : "hidden";
    bar.value = model.get("share");
    words.textContent = model.get("status");
    el.dataset.busy = model.get("busy");
  });
  on(["actions"], () => {
    for (const [action, label, enabled] of model.get("actions")) {
      const button = made.get(action) ?? element("button", {
        type: "button", className: `cvnb-${action}`,
        onclick: () => { if (button.ariaDisabled !== "true") model.send({ action }); },
      });
      button.textContent = label;
      button.ariaDisabled = String(!enabled);  // `disabled` would take the focus from the button
      if (!made.has(action)) {
        const field = withButton.find((one) => one.action === action);
        if (field) fields[field.name].node.append(button);
        else buttons.append(button);
        made.set(action, button);
      }
    }
  });
  on(["codes"], () => {
    const codes = Object.entries(model.get("codes"));
    if (copies.children.length !== codes.length) {
      copies.replaceChildren(...codes.map(([label]) => element("button", {
        type: "button", textContent: `Copy as ${label}`,
        onclick: () => copy(model.get("codes")[label], copied),
      })));
      texts.replaceChildren(...codes.map(([label]) => element("details", {}, [
        element("summary", { textContent: label }),
        element("pre", { tabIndex: 0, ariaLabel: label, role: "region" }),
      ])));
    }
    codes.forEach(([, text], i) => { texts.children[i].lastChild.textContent = text; });
    copied.textContent = "";
    copying.style.display = codes.length ? "" : "none";
  });

  el.classList.add("cvnb-form");
  const kept = withButton.map(({ name }) => fields[name].node);
  const title = element("div", { className: "cvnb-title" });
  on(["stale"], () => { el.dataset.stale = model.get("stale"); });
  on(["title"], () => { title.textContent = model.get("title"); });
  el.append(title, ...arranged(model, fields, prefix), home, alert);
  el.append(buttons, status, ...kept, copying);
  on(["error_at"], () => { sayAt(fields[model.get("error_at")]?.node, alert, home); });

  // Hides the static copy while the widget is alive.
  const rule = element("style");
  let gone = false;
  on(["twin"], () => {
    const twin = model.get("twin");
    rule.textContent = twin && !gone ? `.jp-OutputArea-child:has(.${twin}) { display: none }` : "";
  });
  // Sent when the kernel is gone: the form stays visible, but takes no input.
  model.on("comm_live_update", () => {
    gone = true;
    el.inert = true;
    el.dataset.busy = "false";
    bar.style.visibility = "hidden";
    rule.textContent = "";
    alert.textContent = "The kernel that this widget belongs to is gone: run its cell again.";
  });
  document.head.append(rule);
  // A figure drawn while hidden has no width; it takes its width on a resize event.
  const watch = new ResizeObserver(() => window.dispatchEvent(new Event("resize")));
  watch.observe(el);
  setTimeout(() => { if (el.isConnected) watch.observe(el.closest(".cvnb-host") ?? el); });
  // Python then sends again what this page may have missed while it was loading.
  model.send({ action: "opened" });
  return () => { rule.remove(); watch.disconnect(); };
}

export default { render };
