VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
EXAMPLE = -c examples/fluent.txt examples/literal.txt examples/hasty.txt \
	-r examples/reference.a.txt examples/reference.b.txt

# Packages are installed without bytecode; it must be kept once a module has been imported.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-portable matrix readme coverage lint bench docs clean

# One environment serves all targets; it is rebuilt when dependencies or compiled solvers change.
# The demo needs few packages, and bytecode only of the modules that it imports. The other targets
# add what developers need; nlgauge itself is then installed and is not compiled again.
INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt
KERNELS = $(wildcard src/nlgauge/kernels/*.py src/nlgauge/kernels/*.pxd)
$(VENV)/.demo: pyproject.toml constraints.txt setup.py $(KERNELS)
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) -e '.[embedded,plots]'
	touch $@

$(VENV)/.ready: $(VENV)/.demo
	$(INSTALL) 'nlgauge[dev]'
	touch $@

demo: $(VENV)/.demo  ## score the shipped example with lexical and embedding metrics
	$(BIN)/nlgauge score $(EXAMPLE) -m gauge bleu chrf ter rouge eed bertscore mover bary
	mkdir -p demo
	$(BIN)/nlgauge show -m wmd:special=drop -o demo/alignment.png \
		-c 'A guy with a red jacket is standing on a boat' \
		-r 'A man wearing a lifevest is sitting in a canoe'
	@echo "A drawing of one alignment is in demo/alignment.png"

test: $(VENV)/.ready  ## the whole test suite
	OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false $(BIN)/pytest -n 2 --dist worksteal

test-portable: $(VENV)/.ready  ## stored numbers again, with the instructions of an old processor
	ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 MKL_CBWR=COMPATIBLE \
	OPENBLAS_CORETYPE=Prescott OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false \
	$(BIN)/pytest -n 2 -k 'not agreement' tests/metrics/test_bertscore.py \
		tests/metrics/test_infolm.py tests/metrics/test_transport_golden.py \
		tests/metrics/test_smd.py tests/encode/test_huggingface.py

matrix:  ## tests on every Python here, with the lowest and highest versions of libraries (needs uv)
	$(PYTHON) tools/test_matrix.py

readme: $(VENV)/.ready  ## follow README.md word for word in a clean folder
	$(BIN)/python tools/docs/follow_readme.py

coverage: $(VENV)/.ready  ## lines and branches that the tests run, in all processes; a report in build/coverage
	$(BIN)/coverage erase
	OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false $(BIN)/coverage run -m pytest -n 2 --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage html --quiet
	$(BIN)/coverage report --skip-covered

lint: $(VENV)/.ready  ## style, spelling, types and import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/mypy
	PYTHONPATH=tools $(BIN)/lint-imports --no-cache

bench: $(VENV)/.ready  ## time nlgauge beside its peers in one run
	$(BIN)/python -m bench

docs: $(VENV)/.ready  ## the documentation site, in build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
