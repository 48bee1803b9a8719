# All targets work on a fresh machine with Python 3.11+, git and make. Except `install`, they install into this folder.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
UV_VERSION := 0.13.8
UV := .tools/bin/uv
RUN := .venv/bin
STAMP := .venv/.installed
# Each process runs whole files of tests, so that a file's server is started once. Half of them mostly wait.
WORKERS := $(shell n=$$(nproc 2>/dev/null || echo 2); [ $$n -lt 2 ] && echo 4 || echo 6)
SPREAD := --cores $(WORKERS)
export UV_CACHE_DIR ?= $(CURDIR)/.tools/cache
export UV_PYTHON_DOWNLOADS := never
# The tests start hundreds of processes. Without bytecode on disk each of them compiles all of its imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo install uninstall test coverage check release-check bench claims load chaos parsers memory capacity kinds docs screenshots format clean site
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## / — /'

$(UV):
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install it, or run make PYTHON=/path/to/python3"; exit 1; }
	@git --version >/dev/null || { echo "git is needed: install it"; exit 1; }
	@$(PYTHON) -m venv .tools || { echo "Python's venv module is needed: on Debian, apt-get install python3-venv"; exit 1; }
	.tools/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

$(STAMP): pyproject.toml uv.lock | $(UV)
	$(UV) sync --frozen --quiet --python "$$(command -v $(PYTHON))"
	@touch $@

# The demo judges by rules and reads Python: it needs neither a model's client, nor GitHub's, nor the other grammars.
UNUSED := cryptography githubkit githubkit-schemas githubkit-schemas-2026-03-10 httptools langchain-openai nh3 openai \
	regex sse-starlette starlette tiktoken uvicorn uvloop zstandard \
	$(addprefix tree-sitter-,c c-sharp cpp go java javascript kotlin php ruby rust scala swift typescript)
DEMO := $(if $(wildcard $(STAMP)),.venv,.tools/demo)

.tools/demo/.installed: pyproject.toml uv.lock | $(UV)
	@UV_PROJECT_ENVIRONMENT=.tools/demo $(UV) sync --frozen --no-dev $(addprefix --no-install-package ,$(UNUSED)) \
		--python "$$(command -v $(PYTHON))"
	@touch $@

demo: $(DEMO)/.installed ## triage a sample issue of a sample repository
	@$(DEMO)/bin/python docs/demo/make_repository.py .tracehound/demo
	@TRIAGE_DATA_DIR=.tracehound/data $(DEMO)/bin/triage run --repo .tracehound/demo --issue docs/demo/issue.md --brain rules

# The versions are those of uv.lock, which `pipx install .` does not read.
install: $(UV) ## install the command `triage` for your account. EXTRAS=postgres,otel,tools for all extras
	@$(UV) export --quiet --frozen --no-dev --all-extras --no-emit-project --no-hashes --output-file .tools/versions.txt
	@$(UV) tool install --quiet --force --reinstall-package tracehound --python "$$(command -v $(PYTHON))" \
		--constraints .tools/versions.txt "tracehound$(if $(EXTRAS),[$(EXTRAS)]) @ file://$(CURDIR)"
	@folder="$$($(UV) tool dir --bin)"; "$$folder/triage" --version; case ":$$PATH:" in \
		*":$$folder:"*) echo "installed: $$folder/triage";; \
		*) echo "installed: $$folder/triage; add the folder to PATH: export PATH=\"$$folder:\$$PATH\"";; esac

uninstall: $(UV) ## remove what `make install` installed
	@$(UV) tool uninstall tracehound

test: $(STAMP) ## run every test
	@$(RUN)/python -m pytest -q $(SPREAD)

# Python 3.11 takes twice the processor time for it; 3.12 has sys.monitoring.
coverage: $(STAMP) ## run every test, and fail below the floor of executed lines in pyproject.toml
	@COVERAGE_CORE=$$($(RUN)/python -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")') \
		$(RUN)/python -m pytest -q -n $(WORKERS) --dist loadscope --no-loadscope-reorder --cov --cov-report=term

check: $(STAMP) ## format, lint, types, import contracts, generated docs, tests
	$(RUN)/ruff format --check .
	$(RUN)/ruff check .
	$(RUN)/mypy
	$(RUN)/lint-imports
	$(RUN)/python docs/generate.py --check
	$(RUN)/python docs/catalogues.py --check
	$(RUN)/python -m pytest -q $(SPREAD)

bench: $(STAMP) ## compare the ranking with bm25s and keyword counting; REPOS=clones DATA=issues.jsonl for your own
	$(RUN)/python -m benchmarks.ranking.bench $(if $(REPOS),--repos $(REPOS)) $(if $(DATA),--data $(DATA))

claims: $(STAMP) ## check reports against known fixes: REPOS=clones DATA="a.jsonl b.jsonl=30"
	$(RUN)/python -m benchmarks.claims --repos $(REPOS) --data $(DATA)

load: $(STAMP) ## measure how fast deliveries are acknowledged, compared with gidgethub and Probot, and how long reports take in bursts and steadily
	@.ci/rivals $(UV)
	$(RUN)/python -m benchmarks.load.receive
	$(RUN)/python -m benchmarks.load.pace
	$(RUN)/python -m benchmarks.load.pace --postgres

chaos: $(STAMP) ## kills, failing calls, silence, frozen workers, a lost database, a full disk, hostile repositories, attacks: one report each; takes over an hour. WHAT=storm, many, scenarios, drills, hostile or attacks
	for what in $(or $(WHAT),storm many scenarios drills hostile attacks); do $(RUN)/python -m benchmarks.chaos.$$what || exit 1; done

parsers: $(STAMP) ## run each grammar on a megabyte of each of 123 tokens, within its deadline; takes an hour. LANGUAGES="ruby java"
	$(RUN)/python -m benchmarks.parsers $(LANGUAGES)

capacity: $(STAMP) ## measure the cost of one issue, the input of docs/capacity.md
	$(RUN)/python -m benchmarks.load.capacity

memory: $(STAMP) ## measure the server's memory while it triages 2,000 issues of one repository
	$(RUN)/python -m benchmarks.load.memory

kinds: $(STAMP) ## measure the classification of kinds on issues that the weights have not seen: DATA=issues.csv
	$(RUN)/python -m benchmarks.kinds.train --dry-run --data $(DATA)

release-check: $(STAMP) ## try a release: workflows, packages, images; no registry of images is needed
	@.ci/release

site: $(UV) ## build the documentation site in strict mode
	UV_PROJECT_ENVIRONMENT=.tools/site $(UV) sync --frozen --quiet --only-group docs --python "$$(command -v $(PYTHON))"
	NO_MKDOCS_2_WARNING=1 .tools/site/bin/mkdocs build --quiet --strict

docs: $(STAMP) ## write the generated pages and the picture
	$(RUN)/python docs/generate.py

screenshots: $(STAMP) ## redraw the screenshots in docs with Chromium
	@.ci/chromium
	$(RUN)/python docs/draw_screenshots.py

format: $(STAMP) ## format, and apply the linter's automatic fixes
	$(RUN)/ruff format .
	$(RUN)/ruff check --fix .

clean: ## remove everything that was installed or built here
	rm -rf .venv .tools .tracehound .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage
