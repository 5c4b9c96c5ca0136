# Needs Python 3.11 to 3.13 and make; everything else goes into .venv, in the versions and with the hashes of
# requirements.lock: uv, which installs it, and hatchling, which builds the package, among them.
PYTHON ?= python3
BIN    := .venv/bin
STAMP  := .venv/.installed
# Each of many processes would else compile the libraries' modules again, for seconds.
unexport PYTHONDONTWRITEBYTECODE
FITS   := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))

.PHONY: install report ledger test check lint types mutants pins numbers lab explore app bench lock lowest weka docs

install: $(STAMP)

# make report PROFILE=full DATASET=mine. A profile's notebooks run one by one: each uses all cores, and finds what an
# earlier one has evaluated. After a kill the same command goes on where it stopped.
report: $(STAMP)
	$(BIN)/privnb report$(if $(DATASET), '$(DATASET)')$(if $(PROFILE), -p PROFILE='$(PROFILE)' --jobs 1)

# What takes too long for each report, for privnb/papers/full_profile.csv, which is written anew after each part: the
# second reading of Sramka et al., in minutes; then the full profile, in hours, with Weka if it is there. After a kill the
# same command goes on where it stopped.
FULL := 03_utility 04_attack 02_sanitize 06_li_li 05_brickell_shmatikov
WRITE = $(BIN)/python -c 'import sys; from pathlib import Path; from privnb.papers import full_profile; \
  full_profile.write([each for each in map(Path, sys.argv[1:]) if each.exists()])' $(patsubst %,reports/full/%,$(FULL) taxonomy)
ledger: $(STAMP)
	@$(BIN)/python -c 'from privnb.papers import full_profile; full_profile.read_commit()' # before the hours, not after
	$(BIN)/privnb report --out reports/full/taxonomy -p STUDY=sramka-taxonomy --notebook 03_utility 05_brickell_shmatikov
	@$(WRITE)
	@for part in $(FULL); do \
	  $(BIN)/privnb report --out reports/full/$$part -p PROFILE=full --jobs 1 --notebook $$part && $(WRITE) || exit 1; \
	done

test: $(STAMP)
	$(BIN)/python -m pytest

# All but the tests that run whole notebooks, need a browser, Java or Spark, or take longest; properties are tried on few
# tables.
check: lint types
	$(BIN)/python -m pytest -m 'not kernel and not browser and not java and not spark and not slow' --hypothesis-profile few

# Style and docstrings (ruff), spelling (codespell). tests/test_words.py does the words.
lint: $(STAMP)
	$(BIN)/ruff check privnb tests
	$(BIN)/ruff format --check --quiet privnb tests
	$(BIN)/codespell README.md CONTRIBUTING.md CHANGELOG.md docs privnb notebooks

# Types, strictly, in all rooms.
types: $(STAMP)
	$(BIN)/mypy

# Plants faults in the functions that guard people, in a copy, and shows which of them the tests catch: an hour for all.
# make mutants ROOMS="claims withholding" plants those of some rooms.
mutants: $(STAMP)
	$(BIN)/python tests/mutants.py $(ROOMS)

# make numbers COMMIT=abc1234 compares all releases, results, ledgers and cards of this tree with those of a commit, in
# half an hour or so. make numbers COMMIT=abc1234 PARTS=releases does the fastest part.
numbers: $(STAMP)
	$(BIN)/python tests/benchmarks/frozen_numbers.py $(COMMIT)$(if $(PARTS), --parts $(PARTS))$(if $(TABLES), --tables $(TABLES))

# After a sanitizer was added: freezes the numbers that its draws derive from.
pins: $(STAMP)
	$(BIN)/python tests/pins.py

# Builds the documentation as a site in build/docs, without network. A warning is an error.
docs: $(STAMP)
	$(BIN)/python -m sphinx -W --keep-going --nitpicky --quiet --fresh-env docs build/docs
	@echo "Open build/docs/index.html in a browser."

lab: $(STAMP)
	$(BIN)/privnb lab

# make explore DATASET=mine: the explorer as a page of its own.
explore: $(STAMP)
	$(BIN)/privnb explore$(if $(DATASET), '$(DATASET)')
app: explore # as it was called; goes in the next version

# Says whether the real Weka can be used here, and what is missing; its bridge, jpype1, comes with the lock.
weka: $(STAMP)
	@$(BIN)/python -c 'import sys; from privnb.miners import weka; sys.exit(weka.missing() or print("Weka", weka.version()))'

# Seconds, memory and loss beside other tools. Reads WORKS, PEERS, SLOW and HIERARCHIES: see the top of bench.py.
bench: $(STAMP)
	$(BIN)/python tests/benchmarks/bench.py

# The lock is made on purpose, never on the way: it decides what everybody installs. `uv` and `hatchling` are pinned in
# pyproject.toml.
lock: $(BIN)/uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --all-extras --group test --group docs --group build --generate-hashes \
	  --no-emit-index-url --no-header pyproject.toml --output-file requirements.lock

# Installs the oldest versions that pyproject.toml allows, in an environment of their own, and runs the quick tests with
# them: a lower bound that is too low fails here. make lowest TESTS=tests/tables runs some of them.
TESTS ?=
lowest: $(BIN)/uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python .venv-lowest
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct --extra notebook --extra files \
	  --group test --group docs --requirement pyproject.toml
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python --no-deps --editable .
	.venv-lowest/bin/python -m pytest -m 'not kernel and not browser and not java and not spark and not slow' \
	  --hypothesis-profile few $(TESTS)

$(STAMP): $(BIN)/uv requirements.lock pyproject.toml
	@$(BIN)/python -c '$(FITS)' || { echo ".venv was made with `$(BIN)/python --version`. privnb needs Python 3.11 to 3.13:" \
	  "remove .venv and try again."; exit 1; }
	$(BIN)/uv pip sync --quiet --python $(BIN)/python --build-constraints requirements.lock requirements.lock
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

$(BIN)/uv:
	@$(PYTHON) -c '$(FITS)' || { echo "privnb needs Python 3.11 to 3.13, and $(PYTHON) is `$(PYTHON) --version 2>&1`." \
	  "Install one and name it: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	awk '/^[^ #]/ { found = /^uv==/ } found' requirements.lock > .venv/uv.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement .venv/uv.txt
