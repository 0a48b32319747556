# The project's commands. Each says what it does, and may be run again: what is there already is not installed twice.
#   make demo   train a small model to code, from nothing, and show what it learned (minutes on two cores)
#   make test   every test but the slow ones
#   make soak   the slow tests: counts in full
#   make lint   ruff and mypy
# PYTHON names the interpreter that .venv is made from, PIP_ARGS is given to every pip, PYTEST_ARGS to pytest:
#   make test PYTHON=python3.12 PYTEST_ARGS="-k sandbox -x"

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
MAKEFLAGS += --no-print-directory
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV
# torch makes this folder at the first optimizer step, in /tmp if it is told nothing.
export TORCHINDUCTOR_CACHE_DIR := $(CURDIR)/.venv/torchinductor

PYTHON ?= python3
PIP_ARGS ?=
PYTEST_ARGS ?=
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt $(PIP_ARGS)

# .venv is named by its interpreter and by where it lies, an installation by what decides it: the metadata and the pins. Neither is
# made again before one of these has changed.
VENV := .venv/made-$(shell { command -v $(PYTHON); $(PYTHON) --version; pwd; } 2>&1 | cksum | cut -d' ' -f1)
PINS := $(shell cat pyproject.toml constraints.txt | cksum | cut -d' ' -f1)
DEMO := .venv/demo-$(PINS)
TEST := .venv/test-$(PINS)

.PHONY: demo test soak lint
.DEFAULT_GOAL := demo

demo: $(DEMO)
	@echo "== workgym train quickstart"
	$(BIN)/workgym train quickstart

test: $(TEST)
	@$(call pytest,-m "not slow")

soak: $(TEST)
	@$(call pytest,-m slow --timeout 3600)

lint: $(TEST)
	@set -x
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy -p workgym

# Two workers; tests that measure time or count processes share one of them. pytest's temporary files lie in a folder that is
# removed, so that whatever else is found in /tmp afterwards was left there by a test and is a fault.
define pytest
scratch=$$(mktemp -d)
trap 'rm -rf "$$scratch"' EXIT
echo '== pytest $(1) $(PYTEST_ARGS)'
$(BIN)/python -m pytest -n 2 --dist loadgroup --basetemp "$$scratch/pytest" $(1) $(PYTEST_ARGS)
endef

$(DEMO): $(VENV)
	@echo "== installing workgym with its train extra (torch is large: some minutes the first time)"
	$(PIP) torch
	$(PIP) --editable '.[train]'
	touch $@

$(TEST): $(VENV)
	@missing=
	command -v bwrap >/dev/null || missing+=" bubblewrap"
	$(BIN)/python -c 'import ctypes.util as c; raise SystemExit(not (c.find_library("EGL") and c.find_library("GL")))' || missing+=" libegl1 libegl-mesa0 libgl1-mesa-dri libglx-mesa0 libgl1"
	PATH="$$PATH:/usr/sbin:/sbin" command -v dockerd >/dev/null || missing+=" docker.io"
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	  echo "== installing the system packages$$missing"
	  apt-get update -qq
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null
	elif [ -n "$$missing" ]; then
	  echo "== the tests of some sandboxes skip, and pictures are drawn without OpenGL. On Debian or Ubuntu: sudo apt-get install --no-install-recommends$$missing"
	fi
	echo "== installing workgym with every extra and the tools for its tests (some minutes the first time)"
	$(PIP) torch
	$(PIP) --editable '.[all,bench,dev]'
	touch $@

$(VENV):
	@command -v $(PYTHON) >/dev/null || { echo "workgym needs Python 3.11 or later, and there is no $(PYTHON). Try: make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
	  echo "workgym needs Python 3.11 or later; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.11"
	  exit 1
	}
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || {
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	    echo "== installing the system package python3-venv"
	    apt-get update -qq
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
	  else
	    echo "$(PYTHON) cannot make virtual environments. On Debian or Ubuntu: sudo apt-get install python3-venv"
	    exit 1
	  fi
	}
	echo "== making .venv with $$($(PYTHON) --version)"
	$(PYTHON) -m venv --clear .venv
	touch $@
