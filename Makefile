# Everything a person does with this project. `make run` starts it, `make test` tests it.
SHELL := /bin/bash
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null)

# Recorded cases with known answers, where they lie beside the project.
ifndef AEGIS_CASES_DIR
ifneq ($(wildcard ../shared/cases/.),)
export AEGIS_CASES_DIR := $(abspath ../shared/cases)
endif
endif

.PHONY: fuzz-api help setup run demo test test-postgres test-torch verify check bench-detect bench-offline bench-triage bench-collectives bench-web bench-paint table-collectives accuracy accuracy-collectives format lock openapi screenshots clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Aegis needs Python 3.11 or newer with venv; none was found on the PATH." >&2; exit 1; }
	@$(PYTHON) -m venv --help >/dev/null 2>&1 || { echo "Python's venv module is missing: install python3-venv." >&2; exit 1; }
	@$(if $(UV),$(UV) venv -q --allow-existing --python $(PYTHON) .venv,$(PYTHON) -m venv .venv || { echo "Could not make .venv: on Debian, apt-get install python3-venv." >&2; rm -rf .venv; exit 1; })

.venv/ready-to-run: requirements.txt | .venv/bin/python
	@echo "Installing what the product runs on ..."
	@$(if $(UV),$(UV) pip install -q --python $(BIN)/python --require-hashes -r $<,$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r $<)
	@touch $@

.venv/ready-to-test: requirements-dev.txt .venv/ready-to-run
	@echo "Installing what tests and checks need ..."
	@$(if $(UV),$(UV) pip install -q --python $(BIN)/python --require-hashes -r $<,$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r $<)
	@touch $@

# What the detectors are compared with, in a place of its own: no part of the product.
.venv-bench/ready: requirements.txt requirements-bench.in | .venv/bin/python
	@echo "Installing what the detectors are compared with in .venv-bench (about a minute) ..."
	@rm -rf .venv-bench; { $(if $(UV),$(UV) venv -q --python $(PYTHON) .venv-bench && \
		timeout 600 $(UV) pip install -q --python .venv-bench/bin/python --require-hashes -r requirements.txt && \
		timeout 600 $(UV) pip install -q --python .venv-bench/bin/python -r requirements-bench.in,$(PYTHON) -m venv .venv-bench && \
		timeout 600 .venv-bench/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.txt && \
		timeout 600 .venv-bench/bin/python -m pip install -q --disable-pip-version-check -r requirements-bench.in) \
		&& touch $@; } || { rm -rf .venv-bench; echo "requirements-bench.in could not be installed: PyOD's methods and Parquet data are left out." >&2; }

# torch for the CPU, in a place of its own: no part of the product. uv finds wheels on disk where pip
# is told of some, else asks for its CPU build; pip alone may take a build of several GB for GPUs.
WHEELS := $(or $(PIP_FIND_LINKS),$(shell $(PYTHON) -m pip config get global.find-links 2>/dev/null))
.venv-torch/ready: requirements-torch.in | .venv/ready-to-test
	@echo "Installing torch for the CPU in .venv-torch (about a minute) ..."
	@rm -rf .venv-torch; { $(BIN)/uv venv -q --python $(PYTHON) .venv-torch && \
		timeout 240 $(BIN)/uv pip install -q --python .venv-torch/bin/python \
			$(if $(WHEELS),$(WHEELS:%=--find-links %),--torch-backend cpu) -r $< && touch $@; } || \
		{ rm -rf .venv-torch; echo "torch could not be installed: what needs it is left out." >&2; }

setup: .venv/ready-to-test ## make .venv with everything for work on the code

run: .venv/ready-to-run ## start database, broker, worker and web; prints address and login
	@echo "Starting Aegis ..."
	@exec $(BIN)/python manage.py serve

demo: .venv/ready-to-run ## add the demo cluster and its incidents to the instance that runs
	@$(BIN)/python manage.py demo

test: .venv/ready-to-test ## all tests that end within minutes; PART=e2e or PART="not e2e" for a half
	@$(BIN)/python -m pytest -m "not long$(if $(PART), and $(PART))"

# What knows no database, and what is answered the same on both: who may do what, odd calls.
SAME := access benchmarks fuzz house integrations torch_jobs $(addprefix diagnosis/, \
	checks collectives core degradation offline readers simulator sources taxonomy triage)

test-postgres: .venv/ready-to-test ## what touches the database, on a private PostgreSQL (needs its server programs)
	@$(BIN)/python -m tests.on_postgres -m "not long and not e2e" -q $(SAME:%=--ignore=tests/%)

test-torch: .venv/ready-to-test .venv-torch/ready ## real torch jobs on the CPU that break; skipped where torch cannot be had
	@if [ -e .venv-torch/ready ]; then export AEGIS_TORCH_PYTHON=$$PWD/.venv-torch/bin/python; fi; \
		$(BIN)/python -m pytest tests/torch_jobs -q

verify: .venv/ready-to-test ## the long tests as well, and examples that no run has drawn before
	@$(BIN)/python -m pytest --hypothesis-profile=search

check: .venv/ready-to-test ## lint, types, import contracts, templates, migrations
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check -q .
	@$(BIN)/lint-imports --no-logo
	@git ls-files -z '*.html' | xargs -0r $(BIN)/djade --check --target-version 5.2
	@git ls-files -z '*.html' | xargs -0r $(BIN)/djhtml --check --tabwidth 2
	@$(BIN)/mypy .
	@$(BIN)/python manage.py makemigrations --check --dry-run -v 0
	@$(BIN)/python manage.py check

fuzz-api: .venv/ready-to-test ## long: odd calls over the whole REST API by every role; ends with one JSON line
	@$(BIN)/python -m tests.fuzz.campaign

bench-detect: .venv/ready-to-run .venv-bench/ready ## detectors side by side on simulated fleets and public data (BENCH="--per-kind 30": longer)
	@$$([ -e .venv-bench/ready ] && echo .venv-bench || echo .venv)/bin/python -m benchmarks.bench_detect $(BENCH)

bench-offline: .venv/ready-to-run ## the offline planner on 1,000 simulated clusters beside the obvious scheme
	@$(BIN)/python -m benchmarks.bench_offline

bench-collectives: .venv/ready-to-run .venv-torch/ready ## 1,024 dumps and 16,384 ranks of counters to the verdict, beside torchfrtrace
	@$(BIN)/python -m benchmarks.bench_collectives

bench-web: .venv/ready-to-test ## every page at 100,000 incidents on PostgreSQL and SQLite: p95, queries, bytes
	@$(BIN)/python -m benchmarks.bench_web

bench-paint: .venv/ready-to-test ## when each page shows its largest part in a browser, and what moves
	@$(BIN)/python -m tests.e2e.paint

table-collectives: .venv/ready-to-run .venv-torch/ready ## recorded collective cases: truth, our answer, torchfrtrace's
	@$(BIN)/python -m benchmarks.collective_cases

bench-triage: .venv/ready-to-run ## log triage beside ripgrep and a loop of re, on generated logs
	@$(BIN)/python -m benchmarks.bench_triage

accuracy: .venv/ready-to-run ## precision, recall and top-1 of the detector per fault kind
	@$(BIN)/python -m benchmarks.accuracy

accuracy-collectives: .venv/ready-to-run ## who is named from the dumps of simulated 3D-parallel jobs
	@$(BIN)/python -m benchmarks.collective_accuracy

format: .venv/ready-to-test ## put code and templates in the house's form
	@$(BIN)/ruff check -q --fix . || true
	@$(BIN)/ruff format -q .
	@git ls-files -z '*.html' | xargs -0r $(BIN)/djade --target-version 5.2 || true
	@git ls-files -z '*.html' | xargs -0r $(BIN)/djhtml --tabwidth 2

lock: .venv/ready-to-test ## lock requirements with hashes
	@for part in requirements requirements-dev; do $(BIN)/uv pip compile -q --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-emit-find-links --no-header $$part.in -o $$part.txt; done

openapi: .venv/ready-to-test ## docs/openapi.yaml anew, from the code
	@$(BIN)/python manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml

screenshots: .venv/ready-to-test ## docs/screenshots/ anew, from the demo in a real browser
	@$(BIN)/python -m tests.e2e.screenshots

clean: ## remove everything that can be made again (not the data folder)
	rm -rf .venv .venv-bench .venv-torch static_collected .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
