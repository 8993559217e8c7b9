# Everything happens in .venv; `make test` and `make demo` set it up by themselves.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3

.PHONY: demo test lint types bench fuzz clean

demo: $(VENV)/installed
	$(BIN)/python -m novikoff.demo

test: lint types $(VENV)/browser
	$(BIN)/python -m pytest -n 2 -q

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/installed-dev
	$(BIN)/mypy

# The tests open the report's page in Chromium; where it cannot be installed, they skip that.
$(VENV)/browser: | $(VENV)/installed-dev
	@command -v chromium chromium-browser google-chrome >/dev/null \
	|| { echo "installing chromium for the tests of the page"; \
	     { apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium; } \
	     >/dev/null 2>&1; } \
	|| echo "chromium cannot be installed here: the tests that open the page will be skipped"
	@touch $@

bench: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks.run

# A million damaged files, at night; `make fuzz COUNT=10000 SEED=7` runs fewer, again the same.
COUNT ?= 1000000
fuzz: $(VENV)/installed-dev
	$(BIN)/python -m tests.fuzz $(COUNT) $(SEED)

# Installed anew only when pyproject.toml changes. Debian keeps what venv takes pip from in a package
# of its own: without it, the pip that is there serves.
$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m venv --clear --without-pip $(VENV) \
	&& $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) demo .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
