# Two commands for readers and newcomers: `make serve` and `make test`. `make env` is what both begin with.
PYTHON ?= python3
PORT ?= 5006
VENV := .venv
BIN := $(VENV)/bin
SERVE_FLAGS := --port $(PORT) --session-token-expiration 28800 --unused-session-lifetime 120000

.PHONY: env serve test test-next bench clean

env: $(VENV)/.done

$(VENV)/.done: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[train,test]'
	touch $@

serve: env
	@echo "The book opens at http://localhost:$(PORT)/app"
	$(BIN)/panel serve app $(SERVE_FLAGS)

test: env
	$(BIN)/python -m tests.programs_here
	$(BIN)/python -m pytest --numprocesses logical --maxprocesses 4

# The same without torch and browser on Python 3.12 or newer with the newest Panel, where such a Python is found.
test-next:
	sh tests/next.sh

bench: env
	$(BIN)/python -m tests.programs_here
	$(BIN)/python -m tests.bench

clean:
	rm -rf $(VENV) .venv-next .pytest_cache .hypothesis
