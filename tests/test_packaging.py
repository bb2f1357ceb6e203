"""The wheel and the sdist hold what they should, and the base install works without extras."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import nlgauge
from conftest import NEED_OPTIONS

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools" / "docs"))
from licence_table import closure, licence  # noqa: E402 (of the folder above)

CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
EXAMPLES = ROOT / "examples"
TEXTS = ["-c", str(EXAMPLES / "fluent.txt"), "-r", str(EXAMPLES / "reference.a.txt")]
SYSTEMS = ["-c", *(str(EXAMPLES / f"{name}.txt") for name in ("fluent", "literal")), *TEXTS[2:]]
JUDGED = str(EXAMPLES / "judged.jsonl")
PAIR = ["-c", "a guy on a boat", "-r", "a man in a canoe"]
COMMANDS = [
    ["compare", *SYSTEMS, "-m", "chrf"],
    ["correlate", JUDGED, "-m", "bleu", "chrf", "--coefficient", "kendall", "--confidence"],
    ["permutation", JUDGED, "-m", "bleu", "chrf", "--resamples", "20"],
    ["score", *TEXTS, "-m", "bertscore:model=hashing", "wmd:model=hashing"],
    ["show", *PAIR, "-m", "wmd:model=hashing"],
    ["metrics"],
]
OTHERS = [
    ("stats", ["matrix", JUDGED, "-m", "bleu", "chrf"]),
    ("stats", ["williams", JUDGED, "-m", "bleu", "chrf"]),
    ("stats", ["reproduce", "bary", "--data", ".", "-o", "out"]),
    ("embedded", ["score", *TEXTS, "-m", "bertscore"]),
    ("embedded", ["score", *TEXTS, "-m", "infolm"]),
    ("glove", ["score", *TEXTS, "-m", "wmd:model=glove"]),
    ("plots", ["show", *PAIR, "-m", "wmd:model=hashing", "-o", "plan.png"]),
    ("service", ["serve"]),
    ("ray", ["score", "-c", JUDGED, "-m", "bleu", "--parts", "out", "--engine", "ray"]),
]


def test_data_files_are_declared() -> None:
    declared = {
        path
        for package, patterns in CONFIG["tool"]["setuptools"]["package-data"].items()
        for pattern in patterns
        for path in ROOT.joinpath("src", *package.split(".")).glob(pattern)
    }
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "src"], capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is not a git checkout")
    tracked = [ROOT / name for name in listed.stdout.splitlines()]
    missing = [path for path in tracked if path.suffix != ".py" and path not in declared]
    assert missing == []


def test_python_versions_agree() -> None:
    label = "Programming Language :: Python :: 3."
    minors = [
        int(line.removeprefix(label))
        for line in CONFIG["project"]["classifiers"]
        if line.startswith(label)
    ]
    assert CONFIG["project"]["requires-python"] == f">=3.{min(minors)}"
    built = CONFIG["tool"]["cibuildwheel"]["build"].split()
    assert built == [f"cp3{minor}-*" for minor in minors]


@pytest.mark.skipif(find_spec("setuptools") is None, reason="setuptools is not installed")
def test_sdist_holds_the_files_that_readme_names(tmp_path: Path) -> None:
    project = tmp_path / "project"
    unwanted = (".*", "build", "demo", "dist", "__pycache__", "*.egg-info", "*.so", "*.c")
    shutil.copytree(ROOT, project, ignore=shutil.ignore_patterns(*unwanted))
    code = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    words = [sys.executable, "-c", code, str(tmp_path / "dist")]
    (tmp_path / "dist").mkdir()
    made = subprocess.run(words, cwd=project, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    (archive,) = (tmp_path / "dist").iterdir()
    with tarfile.open(archive) as file:
        held = {name.partition("/")[2] for name in file.getnames()}
    readme = (ROOT / "README.md").read_text("utf-8")
    words = {word.strip("./") for word in re.findall(r"[\w./-]+", readme)}
    paths = {word for word in words if "." in word or "/" in word}
    named = {path for path in paths if (ROOT / path).exists()}
    assert named >= {"docs/alignment.svg", "examples/judged.jsonl", "tests/laws", "constraints.txt"}
    assert named | {"Makefile", "setup.py", "LICENSE"} <= held
    kernels = "src/nlgauge/kernels"
    assert {f"{kernels}/depth.py", f"{kernels}/depth.pxd"} <= held


def test_licences_of_what_is_required() -> None:
    required = closure(CONFIG["project"]["dependencies"], {})
    assert {"numpy", "sacrebleu", "typer"} <= set(required)
    for name, installed in required.items():
        assert not re.search("GPL|General Public", licence(installed)), name


def test_the_page_of_licences_names_all_dependencies_and_digests() -> None:
    from nlgauge.encode.model_files import EMBEDDED_SHA256
    from nlgauge.encode.universal_sentence_encoder import WEIGHTS_SHA256

    page = (ROOT / "docs" / "licences.md").read_text("utf-8")
    project = CONFIG["project"]
    extras = [each for listed in project["optional-dependencies"].values() for each in listed]
    for text in (*project["dependencies"], *extras):
        name = canonicalize_name(Requirement(text).name)
        assert name == "nlgauge" or f"| {name} |" in page, (
            f"{name}: run tools/docs/licence_table.py"
        )
    head = ROOT / "src" / "nlgauge" / "encode" / "data" / "minilm-mlm.safetensors"
    packaged = json.loads(head.with_name("packaged_models.json").read_text("utf-8"))["mpnet"]
    weights = [each["sha256"] for each in packaged["files"] if each["name"].endswith("tensors")]
    own = sha256(head.read_bytes()).hexdigest()
    for digest in (EMBEDDED_SHA256, WEIGHTS_SHA256, own, *weights):
        assert f"`{digest}`" in page


@pytest.fixture(scope="module")
def base_install(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with links to the packages of the base install, and to no others."""
    site = tmp_path_factory.mktemp("site")
    (site / "nlgauge").symlink_to(Path(nlgauge.__file__).parent)
    for name in ("nlgauge", *closure(CONFIG["project"]["dependencies"], {})):
        try:
            files = distribution(name).files or ()
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed")
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(distribution(name).locate_file(top))
    return site


_COMMANDS_IN_TURN = """
import contextlib, io, json, sys
from nlgauge.cli import main
done = []
for words in json.load(sys.stdin):
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as ended:
            code = ended.code or 0
    done.append([words, [code, out.getvalue(), err.getvalue()]])
json.dump(done, sys.stdout)
"""


@pytest.fixture(scope="module")
def answers(base_install: Path) -> dict[tuple[str, ...], list[Any]]:
    """Exit code, output and messages of every command here, in one process of the base install."""
    commands = [_lexical_scores(), *COMMANDS, *(words for _, words in OTHERS)]
    done = subprocess.run(
        [sys.executable, "-S", "-c", _COMMANDS_IN_TURN],  # -S: without site-packages
        env=os.environ | {"PYTHONPATH": str(base_install), "COLUMNS": "200"},
        cwd=base_install,
        input=json.dumps(commands),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {tuple(words): answer for words, answer in json.loads(done.stdout)}


def _lexical_scores() -> list[str]:
    return [
        "score",
        *TEXTS,
        "-m",
        *(NEED_OPTIONS.get(n, n) for n in _lexical_metrics()),
        "-f",
        "json",
    ]


def _lexical_metrics() -> list[str]:
    names = nlgauge.metric_names()
    return [name for name in names if nlgauge.metric(name).needs.kind == "text"]


def test_base_install_is_small(base_install: Path) -> None:
    assert {"numpy", "sacrebleu"} <= {path.name for path in base_install.iterdir()}
    size = sum(
        path.stat().st_size
        for top in base_install.iterdir()
        for path in ([top] if top.is_file() else top.resolve().rglob("*"))
        if path.is_file() and path.suffix != ".c"
    )
    assert size < 200e6


def test_lexical_metrics_need_no_extra(answers: dict[tuple[str, ...], list[Any]]) -> None:
    assert {"bleu", "chrf", "ter", "rouge", "meteor", "nist", "cider"} <= set(_lexical_metrics())
    code, out, err = answers[tuple(_lexical_scores())]
    assert code == 0, err
    scored = {score["metric"].partition(":")[0] for score in json.loads(out)["scores"]}
    assert scored == set(_lexical_metrics())


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_commands_that_need_no_extra(
    answers: dict[tuple[str, ...], list[Any]], words: list[str]
) -> None:
    code, out, err = answers[tuple(words)]
    assert code == 0, err
    assert out


@pytest.mark.parametrize(
    ("extra", "words"), OTHERS, ids=lambda value: value if isinstance(value, str) else value[0]
)
def test_other_commands_name_their_extra(
    answers: dict[tuple[str, ...], list[Any]], extra: str, words: list[str]
) -> None:
    code, out, err = answers[tuple(words)]
    assert code == 1, out
    assert f"pip install 'nlgauge[{extra}]'" in err.splitlines()[-1]
    assert extra in CONFIG["project"]["optional-dependencies"]
