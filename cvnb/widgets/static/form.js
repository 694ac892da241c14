// A form drawn from the model's fields. Every control is a native element with a label; values go back as they are typed or dragged.

function element(tag, properties = {}, children = []) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made && name !== "list") made[name] = value;
    else made.setAttribute(name, value);
  }
  // Or JupyterLab and Notebook take arrows and letters for commands; they look at the focused element itself.
  if (["input", "select", "button", "summary"].includes(tag)) made.setAttribute("data-lm-suppress-shortcuts", "true");
  made.append(...children);
  return made;
}

// Every entry has a number: one that was not heard yet is neither lost among others nor shown as it was before.
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

// Each maker returns the element of a field and two functions: show(value), and enable(yes).
const makers = {
  number(field, id, change) {
    const range = { min: field.min, max: field.max, step: field.step };
    const read = (input) => {
      const value = input.valueAsNumber;
      if (Number.isFinite(value)) change(field.step % 1 ? value : Math.round(value));
    };
    let wanted = field.min;
    const typed = element("input", {
      type: "number", id, min: field.min, step: "any", oninput: () => read(typed), onblur: () => { typed.value = wanted; },
    });
    const slider = element("input", { type: "range", ...range, ariaLabel: `${field.label}, slider`, oninput: () => read(slider) });
    const inputs = field.slider ? [typed, slider] : [typed];
    return {
      node: element("div", { className: "cvnb-row" }, [element("label", { htmlFor: id, textContent: field.label }), ...inputs]),
      show: (value) => {
        wanted = value;
        inputs.forEach((input) => { if (input.valueAsNumber !== value && input !== document.activeElement) input.value = value; });
      },
      enable: (yes) => inputs.forEach((input) => { input.disabled = !yes; }),
    };
  },
  choice(field, id, change) {
    const select = element("select", { id, onchange: () => change(select.value) });
    let wanted = "";
    return {
      node: element("div", { className: "cvnb-row" }, [element("label", { htmlFor: id, textContent: field.label }), select]),
      show: (value) => { wanted = value; select.value = value; },
      enable: (yes) => { select.disabled = !yes; },
      offer: (choices) => {
        select.replaceChildren(...choices.map(([value, label]) => element("option", { value, textContent: label })));
        select.value = wanted;
      },
    };
  },
  check(field, id, change) {
    const box = element("input", { type: "checkbox", id, onchange: () => change(box.checked) });
    return {
      node: element("div", { className: "cvnb-row" }, [element("label", { htmlFor: id, textContent: field.label }), box]),
      show: (value) => { box.checked = value; },
      enable: (yes) => { box.disabled = !yes; },
    };
  },
  text(field, id, change) {
    let waiting = 0;
    const input = element("input", {
      type: "text", id, spellcheck: false, placeholder: field.placeholder ?? "",
      oninput: () => { clearTimeout(waiting); waiting = setTimeout(() => change(input.value), 300); },
      onchange: () => { clearTimeout(waiting); change(input.value); },
    });
    return {
      node: element("div", { className: "cvnb-row" }, [element("label", { htmlFor: id, textContent: field.label }), input]),
      show: (value) => { if (input.value !== value && document.activeElement !== input) input.value = value; },
      enable: (yes) => { input.disabled = !yes; },
    };
  },
  // Rows and columns of [value, label]; one cell is chosen, and its value is "row/column".
  table(field, id, change) {
    const cells = new Map();
    const cell = ([row, outside], [column, inside]) => {
      const value = `${row}/${column}`;
      if (field.empty.includes(value)) return element("td");
      const words = `${field.row}: ${outside}, ${field.column}: ${inside}`;
      const radio = element("input", { type: "radio", name: id, ariaLabel: words, title: words, onchange: () => change(value) });
      cells.set(value, radio);
      return element("td", {}, [radio]);
    };
    const head = ["", ...field.columns.map(([, label]) => label)].map((label) => element("th", { scope: "col", textContent: label }));
    const body = field.rows.map((row) => element("tr", {}, [
      element("th", { scope: "row", textContent: row[1] }), ...field.columns.map((column) => cell(row, column)),
    ]));
    const caption = element("caption", { textContent: field.label });
    return {
      node: element("table", { className: "cvnb-table" }, [
        caption, element("thead", {}, [element("tr", {}, head)]), element("tbody", {}, body),
      ]),
      show: (value) => { for (const [name, radio] of cells) radio.checked = name === value; },
      enable: (yes) => { for (const radio of cells.values()) radio.disabled = !yes; },
    };
  },
};

function controls(model, prefix) {
  const made = {};
  for (const field of model.get("fields")) {
    made[field.name] = makers[field.kind](field, `${prefix}-${field.name}`, (value) => send(model, field.name, value));
  }
  return made;
}

async function copy(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    shown.textContent = "Copied.";
  } catch {
    shown.textContent = "The browser does not let the page copy; the text stands below.";
  }
}

function render({ model, el }) {
  const prefix = `cvnb-form-${Math.random().toString(36).slice(2)}`;  // the script is read once for each widget
  const fields = controls(model, prefix);
  const alert = element("div", { role: "alert", className: "cvnb-alert" });
  const bar = element("progress", { max: 1, ariaLabel: "share of the run that is done" });
  const words = element("span");
  const status = element("div", { role: "status", className: "cvnb-status" }, [bar, words]);
  const buttons = element("div", { className: "cvnb-buttons" });
  const copied = element("span", { role: "status", className: "cvnb-copied" });
  const copies = element("div", { className: "cvnb-buttons" });
  const texts = element("div", { className: "cvnb-codes" });
  const copying = element("div", {}, [copies, copied, texts]);

  const on = (names, show) => {
    for (const name of names) model.on(`change:${name}`, show);
    show();
  };
  on(["values", "heard"], () => show(model, fields));
  on(["choices"], () => {
    for (const [name, choices] of Object.entries(model.get("choices"))) fields[name]?.offer(choices);
  });
  on(["disabled"], () => {
    for (const [name, field] of Object.entries(fields)) field.enable(!model.get("disabled").includes(name));
  });
  on(["error"], () => { alert.textContent = model.get("error"); });
  on(["status", "share", "busy"], () => {
    bar.style.visibility = model.get("busy") ? "visible" : "hidden";
    bar.value = model.get("share");
    words.textContent = model.get("status");
    el.dataset.busy = model.get("busy");
  });
  on(["actions"], () => {
    const known = [...buttons.children];
    model.get("actions").forEach(([action, label, enabled], i) => {
      const click = (event) => { if (event.currentTarget.ariaDisabled !== "true") model.send({ action }); };
      const button = known[i] ?? element("button", { type: "button", onclick: click });
      button.textContent = label;
      button.ariaDisabled = String(!enabled);  // one that is disabled in earnest loses the focus
      if (!known[i]) buttons.append(button);
    });
  });
  on(["codes"], () => {
    const codes = Object.entries(model.get("codes"));
    if (copies.children.length !== codes.length) {
      copies.replaceChildren(...codes.map(([label]) => element("button", {
        type: "button", textContent: `Copy as ${label}`, onclick: () => copy(model.get("codes")[label], copied),
      })));
      texts.replaceChildren(...codes.map(([label]) => element("details", {}, [
        element("summary", { textContent: label }), element("pre", { tabIndex: 0, ariaLabel: label, role: "region" }),
      ])));
    }
    codes.forEach(([, text], i) => { texts.children[i].lastChild.textContent = text; });
    copied.textContent = "";
    copying.style.display = codes.length ? "" : "none";
  });

  el.classList.add("cvnb-form");
  el.append(...Object.values(fields).map(({ node }) => node), alert, buttons, status, copying);

  // The static copy is for when this is not alive; a figure that was drawn before it was shown takes its width now.
  const rule = element("style");
  let gone = false;
  on(["twin"], () => {
    const twin = model.get("twin");
    rule.textContent = twin && !gone ? `.jp-OutputArea-child:has(.${twin}) { display: none }` : "";
  });
  model.on("comm_live_update", () => {  // the kernel has left: what is shown stays, and does nothing
    gone = true;
    el.inert = true;
    el.dataset.busy = "false";
    bar.style.visibility = "hidden";
    rule.textContent = "";
    alert.textContent = "The kernel that this widget belongs to is gone: run its cell again.";
  });
  document.head.append(rule);
  const watch = new ResizeObserver(() => window.dispatchEvent(new Event("resize")));
  watch.observe(el);
  return () => { rule.remove(); watch.disconnect(); };
}

export default { render };
