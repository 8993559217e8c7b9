# Everything happens in .venv; `make test` and `make demo` set it up by themselves.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
# The oldest versions of tests/oldest.txt have wheels for this Python.
OLDEST_PYTHON ?= $(shell command -v python3.11 || command -v python3)
NEWEST_PYTHON ?= $(shell command -v python3.14 || command -v python3.13 || command -v python3)
PIP := pip install --quiet --disable-pip-version-check

.PHONY: demo test lint types complexity bench bench-lab browser first-touch test-oldest test-newest outputs pictures docs fuzz release-check clean

demo: $(VENV)/installed
	$(BIN)/python -m novikoff.demo

test: lint types $(VENV)/browser
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

# Report the path of a job through the code, names with several owners, and lines of code.
complexity: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks.complexity

# The tests open pages in Chromium and check the types of the lab's modules. The first `make test` looks
# for both and installs what is missing, Chromium only as root; without them these tests are skipped with
# a message. `make browser` tries again, for instance once there is a network.
browser:
	rm -f $(VENV)/browser
	$(MAKE) $(VENV)/browser

$(VENV)/browser: | $(VENV)/installed-dev
	@command -v chromium chromium-browser google-chrome >/dev/null \
	|| { [ "$$(id -u)" = 0 ] && echo "installing chromium for the tests of the page: apt-get install chromium" \
	     && { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; } \
	     >/dev/null 2>&1; } \
	|| echo "chromium cannot be installed here: the tests that open the page will be skipped"
	@command -v tsc >/dev/null || [ -x $(VENV)/node/node_modules/.bin/tsc ] \
	|| echo "installing typescript for the types of the page: npm install typescript (in $(VENV)/node)"
	@command -v tsc >/dev/null || [ -x $(VENV)/node/node_modules/.bin/tsc ] \
	|| npm install --silent --no-audit --no-fund --fetch-retry-mintimeout 1000 --fetch-retry-maxtimeout 5000 --prefix $(VENV)/node typescript >/dev/null 2>&1 \
	|| echo "typescript cannot be installed here: the lab's types will not be checked"
	@touch $@

# All rows, or some: make bench CASES="dense verdicts"; RECORD=1 keeps the figures for docs/speed.md.
bench: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.run $(CASES) $(if $(RECORD),--record)
	$(if $(CASES),,$(BIN)/python -m benchmarks.mistakes)

# The first fit with empty caches of compiled loops, in units of `import numba`.
first-touch: $(VENV)/installed-bench
	$(BIN)/python -m benchmarks.first_touch

# The lab: an answer, a drag, the first picture.
bench-lab: $(VENV)/installed-bench $(VENV)/browser
	$(BIN)/python -m benchmarks.lab

# The suite with the oldest versions of all dependencies, in an environment of its own.
test-oldest: $(VENV)-oldest/installed
	$(VENV)-oldest/bin/python -m pytest -n 2 -q -W ignore::DeprecationWarning

# The suite with the newest installed Python and the newest versions of all dependencies.
test-newest:
	$(MAKE) types $(VENV)-newest/browser VENV=$(VENV)-newest PYTHON=$(NEWEST_PYTHON)
	$(VENV)-newest/bin/python -m pytest -n 2 -q

# Run the examples of README and docs again and rewrite their outputs, and the map of CONTRIBUTING; the
# tests compare them.
outputs: $(VENV)/installed-dev
	$(BIN)/python docs/outputs.py
	$(BIN)/python -m tests.module_map

# The pictures of README and docs, and the tables of methods for systems and of a cluster.
pictures: $(VENV)/installed-dev
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/systems_methods.py
	$(BIN)/python docs/cluster.py

# The site, in docs/_build/html. Every example runs, those of docstrings first, or this fails; and no
# page may ask the network. Links, search and accessibility are checked on the finished pages. Pages of
# an earlier build are removed: one about a name that is gone would be a dead link.
docs: $(VENV)/installed-docs
	$(BIN)/python -m pytest -q src
	rm -rf docs/_build docs/generated docs/gallery
	$(BIN)/sphinx-build -W --keep-going -q docs docs/_build/html
	$(BIN)/python -m tests.outside docs/_build/html
	$(BIN)/python -m tests.site docs/_build/html

# A million damaged files and ten thousand problems of each claim, for example at night. `make fuzz
# COUNT=10000 SEED=7` runs fewer, and the same each time. `make fuzz CLAIM=systems.radius COUNT=5000`
# checks only this claim.
COUNT ?= 1000000
fuzz: $(VENV)/installed-dev
	$(BIN)/python -m tests.fuzz --count $(COUNT) $(if $(SEED),--seed $(SEED)) $(if $(CLAIM),--claim $(CLAIM))

# Installed anew only when pyproject.toml changes. On Debian `venv` may come without pip: the
# pip that is there serves then.
$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --clear --without-pip $(VENV) \
	&& $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }
	$(BIN)/$(PIP) --editable .
	touch $@

# lifelines asks for pandas < 3, but works with pandas 3: it is installed without its dependencies,
# which are in the group `test`.
LIFELINES := --no-deps 'lifelines>=0.30'

# The groups of tools in pyproject.toml need pip 25.1.
$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/$(PIP) --upgrade 'pip>=25.1'
	$(BIN)/$(PIP) --editable '.[all]' --group dev
	$(BIN)/$(PIP) $(LIFELINES)
	touch $@

$(VENV)/installed-bench: $(VENV)/installed-dev
	$(BIN)/$(PIP) --group bench
	touch $@

$(VENV)/installed-docs: $(VENV)/installed-dev
	$(BIN)/$(PIP) --group docs
	touch $@

$(VENV)/installed-release: $(VENV)/installed-dev
	$(BIN)/$(PIP) --group release
	touch $@

$(VENV)-oldest/installed: pyproject.toml tests/oldest.txt
	$(OLDEST_PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/$(PIP) --upgrade 'pip>=25.1'
	$(VENV)-oldest/bin/$(PIP) --constraint tests/oldest.txt --editable '.[all]' --group test
	$(VENV)-oldest/bin/$(PIP) --constraint tests/oldest.txt $(LIFELINES)
	touch $@

# Wheel and sdist: built, checked, and installed into an empty environment that runs the demo; the
# tests of the unpacked sdist are collected, so that no file they need is missing.
release-check: $(VENV)/installed-release
	rm -rf dist $(VENV)-release
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(PYTHON) -m venv $(VENV)-release
	$(VENV)-release/bin/$(PIP) dist/*.whl
	cd $(VENV)-release && bin/novikoff --version && bin/python -m novikoff.demo >/dev/null
	mkdir $(VENV)-release/sdist && tar -xzf dist/*.tar.gz --strip-components 1 -C $(VENV)-release/sdist
	cd $(VENV)-release/sdist && $(abspath $(BIN))/python -m pytest -q tests/test_layers.py tests/test_lists.py tests/test_docs.py tests/test_packaging.py
	@echo "dist/ is ready"

clean:
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-newest $(VENV)-release demo .mypy_cache .ruff_cache .pytest_cache .hypothesis dist \
	docs/_build docs/gallery docs/generated
