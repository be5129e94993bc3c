# Every target sets up what it needs, and does so only once. Nothing is installed outside of this
# folder: Python packages are in .venv, language servers in .servers.
#
#   make demo    a small broken project, checked with the embedded default server
#   make test    sets up the real servers, runs all but the long tests, leaves nothing running
#   make test-long   the long tests: full tables, many rounds, seldom used servers, whole packages
#   make check   the quick loop: lint, format, types, unit tests
#   make size    lines of code and modules of each folder, beside their budget
#   make bench   measures and writes benchmarks/report.md
#   make docs    builds the site into build/site
#   make fuzz    the property tests with very many examples
#   make hooks   lets git run the quick checks before each commit
#   make clean   removes all that make has made
#
# ARGS adds words to pytest: make test ARGS="-k framing -x". PYTHONS="3.12 3.13" lets make check run
# the unit tests on these interpreters as well, each in an environment of its own (.venv-3.12).

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

VENV := .venv
PYTHON := $(VENV)/bin/python
# Stamps live in the environment, so that they go when it goes, and name the folder: in a copy of
# the checkout the environment would still lead to the original.
PLACE := $(shell pwd -P | cksum | cut -d' ' -f1)
# Those of an environment whose interpreter is gone say nothing.
$(shell [ -x $(PYTHON) ] || rm -f $(VENV)/.ready-*)
USER_READY := $(VENV)/.ready-for-demo-$(PLACE)
DEV_READY := $(VENV)/.ready-for-tests-$(PLACE)
READ_READY := $(VENV)/.ready-and-read-$(PLACE)
ARGS ?=
# Also where it is set: pytest would rewrite the asserts of all tests anew in each worker, and each
# process that a test starts would compile lspkit, which takes longer than many a test.
export PYTHONDONTWRITEBYTECODE :=
# An environment that was made by hand may have no pip.
install = { $(PYTHON) -c 'import pip' 2>/dev/null || $(PYTHON) -m ensurepip >/dev/null; } && \
    $(PYTHON) -m pip -qq --disable-pip-version-check install --editable '.[$(EXTRAS)]'

.PHONY: help demo test test-long check size bench docs fuzz hooks clean servers

help:
	@sed -n 's/^#   make/make/p' Makefile

demo: $(USER_READY)
	@$(PYTHON) examples/demo.py

# Packages and servers are installed at the same time: each waits for the network now and then.
# Three workers for two cores: many tests wait for a process most of the time.
PYTEST = $(PYTHON) tools/run_and_reap.py $(PYTHON) -m pytest -n 3 --dist loadscope \
    --no-loadscope-reorder

test:
	@$(MAKE) -s -j2 $(READ_READY) servers
	@HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-quick} $(PYTEST) -m "not long" $(ARGS)

# Which tests are long is said in tests/long_tests.py. Property tests try more examples here.
test-long:
	@$(MAKE) -s -j2 $(READ_READY) servers
	@status=0; $(PYTEST) -m long $(ARGS) || status=$$?; \
	$(PYTEST) property_tests $(ARGS) || status=$$?; exit $$status

# The types are checked beside the tests, and what is said about them is shown after those.
check: $(DEV_READY)
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m ruff format --check .
	@said=$$(mktemp); $(PYTHON) -m mypy --strict lspkit >"$$said" 2>&1 & types=$$!; \
	trap 'kill $$types 2>/dev/null || true; rm -f "$$said"' EXIT; \
	failed=; \
	HYPOTHESIS_PROFILE=quick $(PYTHON) -m pytest -q -n 2 -m "not server and not slow" $(ARGS) \
	    || failed=tests; \
	wait $$types || failed="$$failed types"; \
	cat "$$said"; \
	[ -z "$$failed" ]
	@[ -z "$(PYTHONS)" ] || $(PYTHON) tools/check_interpreters.py $(PYTHONS)

size: $(DEV_READY)
	@$(PYTHON) tools/code_size.py

# ARGS="--quick" takes less than five minutes and writes to build/bench; a name runs that one alone.
bench: $(DEV_READY) servers
	@$(PYTHON) -m benchmarks $(ARGS)

docs: $(DEV_READY)
	@$(PYTHON) -m mkdocs build --strict --site-dir build/site
	@$(PYTHON) -m tests.doc_blocks
	@echo "the site is in build/site"

fuzz: $(DEV_READY)
	@HYPOTHESIS_PROFILE=fuzz $(PYTHON) -m pytest -n 2 --timeout 0 property_tests $(ARGS)

hooks: $(DEV_READY)
	@git config core.hooksPath .githooks
	@echo "git runs .githooks/pre-commit before each commit"

# Go keeps its module cache read-only, which stops rm.
clean:
	@[ ! -d .servers ] || chmod -R u+w .servers
	@rm -rf $(VENV) $(VENV)-* .servers build .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage*
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The script looks for itself whether there is something to do.
servers: | $(PYTHON)
	@$(PYTHON) tools/set_up_servers.py

$(USER_READY): EXTRAS := python
$(USER_READY): pyproject.toml | $(PYTHON)
	@echo "installing lspkit with its default Python server into $(VENV)"
	@$(install)
	@touch $@

$(DEV_READY): EXTRAS := python,mcp,panel,notebook,dev
$(DEV_READY): pyproject.toml | $(PYTHON)
	@echo "installing lspkit with all extras and the tools for development into $(VENV)"
	@$(install)
	@touch $@ $(USER_READY)

# pytest rewrites the asserts of a module when it first reads it, and keeps the result. Both workers
# would do that for all modules, at the same time. What is wrong in a module is told by the run.
$(READ_READY): $(DEV_READY)
	@$(PYTHON) -m pytest -q --collect-only >/dev/null 2>&1 || true
	@touch $@

# Also made anew when it is there but its interpreter is gone. The search skips a python3 of this
# very environment, which may be the activated one, and one that is too old or cannot make it.
$(PYTHON):
	@for python in $${LSPKIT_PYTHON:-python3 python3.13 python3.12 python3.11}; do \
	    path=$$(command -v "$$python") || continue; \
	    case "$$path" in "$$PWD/$(VENV)/"*) continue;; esac; \
	    "$$path" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    found=$$path; \
	    "$$path" -c 'import ensurepip, venv' 2>/dev/null || continue; \
	    echo "making $(VENV) with $$("$$path" --version)"; \
	    "$$path" -m venv --clear $(VENV); \
	    exit 0; \
	done; \
	if [ -n "$${found:-}" ]; then \
	    echo "$$found cannot make a virtual environment: it comes without ensurepip." >&2; \
	    echo "On Debian and Ubuntu: apt install python3-venv. Then run make again." >&2; \
	else \
	    echo "lspkit needs Python 3.11 or newer, and none was found." >&2; \
	    echo "Name one: make LSPKIT_PYTHON=/path/to/python3" >&2; \
	fi; \
	exit 1
