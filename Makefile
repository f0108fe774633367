# Everything runs from .venv, made from the lock file. Only Python 3.11 to 3.13 and make are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SOURCES := domain admission pipeline storage llm nlp runtime tasks api chaos cli celeryconfig.py tests

.DEFAULT_GOAL := help
.PHONY: help setup run stop test lint format fuzz bench soak contract-report lock clean

help: ## Show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv from the lock file

$(STAMP): requirements.lock pyproject.toml
	@echo "Installing into $(VENV) from requirements.lock (about a minute the first time) ..."
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' \
		|| { echo "Python 3.11 to 3.13 is needed; choose one with: make $(or $(MAKECMDGOALS),setup) PYTHON=python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv==0.13.9
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes --requirement requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

run: setup ## Start the embedded stack, feed sample candidates and search them
	@$(BIN)/poco-memory up --detach --no-links
	@$(BIN)/poco-memory demo
	@$(BIN)/poco-memory links

stop: setup ## Stop the embedded stack
	@$(BIN)/poco-memory down

test: setup ## Run every test on real embedded servers
	$(BIN)/python -m pytest

lint: setup ## Check style, types and floors
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup ## Rewrite the sources in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

fuzz: setup ## Look for text that breaks the gates, for 60 seconds (SECONDS=n for longer)
	$(BIN)/python -m tests.fuzz $(or $(SECONDS),60)

bench: setup ## Measure speed (see bench/README.md)
	$(BIN)/python -m bench

soak: setup ## Break a scratch stack for 600 seconds and check that nothing is lost (SECONDS=n)
	$(BIN)/poco-memory chaos --seconds $(or $(SECONDS),600)

contract-report: setup ## Say what differs in the newest mem0 (VERSION=n for another release)
	@$(BIN)/python -m tests.contract.newest $(VERSION)

lock: ## Resolve requirements.lock again from pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --python-version 3.11 \
		--group dev pyproject.toml requirements-build.in --output-file requirements.lock

clean: ## Remove the environment and all caches (never the data in .poco)
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
