# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

.DEFAULT_GOAL := help
.PHONY: help setup build demo test test-release nightly weekly conformance \
  compatibility opinfo architectures opcounts supported kernels schemas options fuzz lint tidy bench wheel clean

# Extra arguments for pytest: make test PYTEST_ARGS='-k conv'
PYTEST_ARGS ?=
# Extra arguments for opinfo: make opinfo OPINFO_ARGS='--dtypes float32'
OPINFO_ARGS ?=
# Extra arguments for opcounts: make opcounts OPCOUNTS_ARGS='--ours'
OPCOUNTS_ARGS ?=
# Extra arguments for the benchmark: make bench BENCH_ARGS='--help'
BENCH_ARGS ?=

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | \
	  awk -F'\t' '{ printf "  make %-13s %s\n", $$1, $$2 }'

setup: ## install what is missing: Debian packages, .venv, CMake configuration
	@scripts/setup

build: ## build the libraries, the tools, the Python extension and the tests
	@scripts/setup all

demo: ## build what it needs; convert, save and run a vision transformer
	@scripts/setup --demo _native corten
	@.venv/bin/python examples/demo.py

test: build ## lint, lit, unit tests, sanitizers, the fuzz corpus, pytest
	@scripts/test $(PYTEST_ARGS)

test-release: setup ## lit, unit tests, the fuzz corpus, pytest without assertions
	@scripts/test-release $(PYTEST_ARGS)

nightly: build ## what takes hours: opinfo, architectures, sanitizers, fuzzing
	@scripts/nightly

weekly: build ## what takes longer: conformance, verify(), requests, release, wheels
	@scripts/nightly --weekly

conformance: build ## run the suites of others, if ../shared has them
	@scripts/conformance

compatibility: build ## write docs/compatibility.md
	@PYTHONPATH=python/tests .venv/bin/python -m conformance

opinfo: build ## run the samples of PyTorch's operator database
	@PYTHONPATH=python/tests .venv/bin/python -m opinfo $(OPINFO_ARGS)

architectures: build ## convert tiny models of transformers; write the table
	@PYTHONPATH=python/tests .venv/bin/python -m architectures --write

opcounts: build ## count operations against the official converter; write the table
	@benchmarks/setup-peers
	@.venv/bin/python -m benchmarks.op_counts --write $(OPCOUNTS_ARGS)

supported: build ## write docs/supported-ops.md
	@PYTHONPATH=python/tests .venv/bin/python -m supported

kernels: build ## write docs/engine-kernels.md
	@PYTHONPATH=python/tests .venv/bin/python -m engine_kernels

schemas: build ## write the schemas of operators that .pt2 files may call
	@PYTHONPATH=python:python/tests .venv/bin/python -m pt2.schemas

options: build ## write the options of the commands that Python has
	@PYTHONPATH=python:python/tests .venv/bin/python -m cli.python_options

fuzz: setup ## run the fuzz targets, FUZZ_SECONDS each
	@scripts/fuzz

lint: build ## clang-format, ruff, mypy, oxlint; clang-tidy on files you touched
	@scripts/lint

tidy: build ## clang-tidy on every file that has not passed as it is
	@.venv/bin/python scripts/tidy.py

bench: build ## compare conversion with the official converter
	@benchmarks/setup-peers
	@.venv/bin/python -m benchmarks.convert $(BENCH_ARGS)

wheel: setup ## build dist/*.whl and try them in empty environments
	@scripts/wheels

clean: ## remove what was built; .venv stays
	@rm -rf build dist python/*/_native*.so demo.aimodel
