# `make demo` and `make test` need a Python >= 3.11 and the package registries, nothing else:
# both make .venv first, and change nothing outside this folder.
# Another Python: make demo PYTHON=/path/to/python

VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
CANDIDATES := $(if $(PYTHON),'$(PYTHON)') python3 python3.14 python3.13 python3.12 python3.11

# Processes of the suite; auto: one for each core, at most eight. 0 runs the tests in pytest's own.
WORKERS := auto
# What `make check` leaves out; .github/workflows/test.yml has the same words.
QUICK := not (browser or cluster or notebook or slow)

# The user's own settings must not leak into .venv, nor its kernels' history into the user's home.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV
export PIP_USER := 0
export IPYTHONDIR := $(CURDIR)/$(VENV)/ipython

.DEFAULT_GOAL := help
.PHONY: help demo check test lab notebooks lint bench clean

help:  ## show what each target does
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

demo: $(READY)  ## run notebooks/01_quickstart.ipynb, show its results, write them as a page into build/
	@$(RUN) scripts/demo.py

check: $(READY)  ## lint, types, and the tests that need no browser, cluster or notebook: a minute or two
	@$(RUN) -m pytest cvnb tests -n $(WORKERS) -m "$(QUICK)"

test: $(READY)  ## run the whole suite: lint, types, doctests, tests, browser, cluster, notebooks
	@$(RUN) -m pytest -n $(WORKERS)

lab: $(READY)  ## open the first notebook in JupyterLab
	@$(RUN) -m jupyterlab notebooks/01_quickstart.ipynb

notebooks: $(READY)  ## run every notebook and store its outputs; the diff is empty if nothing changed
	@$(RUN) scripts/notebooks.py $(NAMES)

lint: $(READY)  ## check format, style and types
	@$(RUN) -m ruff format --check
	@$(RUN) -m ruff check
	@$(RUN) -m mypy

bench: $(READY)  ## run every script of benchmarks/
	@for script in benchmarks/*.py; do echo "$$script"; $(RUN) "$$script" || exit 1; done

.PHONY: docs  # there is a folder of that name
docs: $(READY)  ## build the documentation into build/docs; a warning is an error
	@$(RUN) scripts/docs.py

clean:  ## remove all that these targets made, .venv included
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -prune -exec rm -rf {} +

# A candidate may be missing, too old, a pyenv shim without a version behind it, or (on Debian)
# without venv: running it tells.
$(READY): pyproject.toml
	@python=; for candidate in $(CANDIDATES); do \
	  "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	    && python=$$candidate && break; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "No Python >= 3.11 with the venv module found (tried $(CANDIDATES)):" >&2; \
	  echo "install one (on Debian and Ubuntu python3 and python3-venv), or name it: make PYTHON=/path/to/python" >&2; \
	  exit 1; \
	fi; \
	echo "Installing cvnb and its tools into $(VENV) with $$("$$python" --version); once, a few minutes."; \
	$(RUN) -m pip --version >/dev/null 2>&1 || "$$python" -m venv $(VENV)
	@$(RUN) -m pip install -qq --disable-pip-version-check --editable '.[dask,docs,lab,test]'
	@touch $@
