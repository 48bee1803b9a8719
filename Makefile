# Everything below works on a fresh machine with Python 3.11+, git and make; it installs into this folder alone.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	$$p -c 'import sys; raise SystemExit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
UV_VERSION := 0.13.8
UV := .tools/bin/uv
RUN := .venv/bin
STAMP := .venv/.installed
# Each core takes whole files of tests, so that what a file starts is started once.
SPREAD := -n auto --maxprocesses 4 --dist loadscope
export UV_CACHE_DIR ?= $(CURDIR)/.tools/cache
export UV_PYTHON_DOWNLOADS := never

.PHONY: help demo test check bench claims load chaos parsers memory capacity kinds docs screenshots format clean site
help: ## list what can be made
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## / — /'

$(UV):
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed: install it, or say make PYTHON=/path/to/python3"; exit 1; }
	@git --version >/dev/null || { echo "git is needed: install it"; exit 1; }
	@$(PYTHON) -m venv .tools || { echo "Python's venv module is needed: on Debian, apt-get install python3-venv"; exit 1; }
	.tools/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

$(STAMP): pyproject.toml uv.lock | $(UV)
	$(UV) sync --frozen --quiet --python "$$(command -v $(PYTHON))"
	@touch $@

demo: $(STAMP) ## triage a sample issue of a sample repository
	@$(RUN)/python docs/demo/make_repository.py .tracehound/demo
	@TRIAGE_DATA_DIR=.tracehound/data $(RUN)/triage run --repo .tracehound/demo --issue docs/demo/issue.md --brain rules

test: $(STAMP) ## run every test
	@$(RUN)/python -m pytest -q $(SPREAD)

check: $(STAMP) ## format, lint, types, who may import whom, generated docs, tests
	$(RUN)/ruff format --check .
	$(RUN)/ruff check .
	$(RUN)/mypy
	$(RUN)/lint-imports
	$(RUN)/python docs/generate.py --check
	$(RUN)/python -m pytest -q $(SPREAD)

bench: $(STAMP) ## rank against bm25s and keyword counting; REPOS=clones DATA=issues.jsonl for your own
	$(RUN)/python -m tests.ranking.bench $(if $(REPOS),--repos $(REPOS)) $(if $(DATA),--data $(DATA))

claims: $(STAMP) ## hold reports against known fixes: REPOS=clones DATA="a.jsonl b.jsonl=30"
	$(RUN)/python -m tests.trust.claims --repos $(REPOS) --data $(DATA)

load: $(STAMP) ## how fast deliveries are acknowledged, beside gidgethub and Probot; how long reports take, in bursts and steadily
	@.ci/rivals $(UV)
	$(RUN)/python -m tests.load.receive
	$(RUN)/python -m tests.load.pace
	$(RUN)/python -m tests.load.pace --postgres

chaos: $(STAMP) ## kills, failing calls, silence, frozen workers, a lost database, a full disk, hostile repositories, attacks: one report each; over an hour. WHAT=storm, many, scenarios, hostile or attacks
	for what in $(or $(WHAT),storm many scenarios hostile attacks); do $(RUN)/python -m tests.chaos.$$what || exit 1; done

parsers: $(STAMP) ## each grammar on a megabyte of each of 123 tokens, within its deadline; an hour. LANGUAGES="ruby java"
	$(RUN)/python -m tests.hostile.parsers $(LANGUAGES)

capacity: $(STAMP) ## what one issue costs, as docs/capacity.md extrapolates it
	$(RUN)/python -m tests.load.capacity

memory: $(STAMP) ## what the server takes while 2,000 issues of one repository are triaged
	$(RUN)/python -m tests.load.memory

kinds: $(STAMP) ## how well kinds of issues are told: DATA=issues.csv; measured on issues the weights have not seen
	$(RUN)/python -m tests.kinds.train --dry-run --data $(DATA)

site: $(UV) ## build the documentation's site, strictly
	UV_PROJECT_ENVIRONMENT=.tools/site $(UV) sync --frozen --quiet --only-group docs --python "$$(command -v $(PYTHON))"
	NO_MKDOCS_2_WARNING=1 .tools/site/bin/mkdocs build --quiet --strict

docs: $(STAMP) ## write the generated pages and the picture anew
	$(RUN)/python docs/generate.py

screenshots: $(STAMP) ## draw the pictures of the pages in docs anew, with a Chromium
	@.ci/chromium
	$(RUN)/python -m tests.browser.screenshots

format: $(STAMP) ## format and mend what can be mended
	$(RUN)/ruff format .
	$(RUN)/ruff check --fix .

clean: ## remove everything that was installed or made here
	rm -rf .venv .tools .tracehound .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
