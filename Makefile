# Everything a person does with this project. `make run` starts it, `make test` tests it.
SHELL := /bin/bash
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null)

.PHONY: help setup run demo test test-postgres verify check bench-detect bench-triage bench-collectives table-collectives accuracy accuracy-collectives format lock openapi screenshots clean

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

setup: .venv/ready-to-test ## make .venv with everything for work on the code

run: .venv/ready-to-run ## start database, broker, worker and web; prints address and login
	@exec $(BIN)/python manage.py serve

demo: .venv/ready-to-run ## add the demo cluster and its incidents to the instance that runs
	@$(BIN)/python manage.py demo

test: .venv/ready-to-test ## all tests that end within minutes
	@$(BIN)/python -m pytest -m "not long"

test-postgres: .venv/ready-to-test ## the same on a private PostgreSQL (needs its server programs)
	@$(BIN)/python -m tests.on_postgres -m "not long and not e2e" -q

verify: .venv/ready-to-test ## the long tests as well
	@$(BIN)/python -m pytest

check: .venv/ready-to-test ## lint, types, import contracts, templates, migrations
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check -q .
	@$(BIN)/lint-imports --no-logo
	@git ls-files -z '*.html' | xargs -0r $(BIN)/djade --check --target-version 5.2
	@git ls-files -z '*.html' | xargs -0r $(BIN)/djhtml --check --tabwidth 2
	@$(BIN)/mypy .
	@$(BIN)/python manage.py makemigrations --check --dry-run -v 0
	@$(BIN)/python manage.py check

bench-detect: .venv/ready-to-run ## detectors side by side on simulated fleets (peers: requirements-bench.in)
	@$(BIN)/python -m benchmarks.bench_detect

bench-collectives: .venv/ready-to-run ## 1,024 dumps and 16,384 ranks of counters to the verdict (peer: requirements-torch.in)
	@$(BIN)/python -m benchmarks.bench_collectives

table-collectives: .venv/ready-to-run ## recorded collective cases: truth, our answer, torchfrtrace's
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
	rm -rf .venv static_collected .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
