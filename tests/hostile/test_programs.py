"""No file and no signature chooses a program that is run."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conftest import WORD_OVERLAP
from nlgauge import metric, score
from nlgauge.cli import app
from nlgauge.core.errors import UsageError
from nlgauge.reproducibility import explain


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace"


@pytest.fixture
def signatures(trace: Path) -> list[str]:
    """Signatures whose metric runs a command, alone and as a member of ensembles."""
    command = f"touch {trace}"
    return [
        f"external|command:{command}|direction:higher|low:0|high:1|nrefs:1",
        f"ensemble|metrics:chrf+external:command={command}|weights:equal|nrefs:1",
        f"external:command={command}",
        f" external:command={command}",
        f"ensemble:metrics=chrf+external:command={command}",
    ]


def _results(folder: Path, signature: str) -> str:
    (folder / "texts.txt").write_text("a b c\n")
    files = {"candidates": [str(folder / "texts.txt")], "references": [str(folder / "texts.txt")]}
    scores = [{"signature": signature, "system": "texts", "value": 1.0, "metric": "x"}]
    results = folder / "results.json"
    results.write_text(json.dumps({"scores": scores, "inputs": files}))
    return str(results)


@pytest.mark.parametrize("number", range(5))
def test_verify_runs_no_program_that_a_results_file_names(
    number: int, signatures: list[str], trace: Path, tmp_path: Path
) -> None:
    result = CliRunner().invoke(app, ["verify", _results(tmp_path, signatures[number])])
    assert isinstance(result.exception, UsageError)
    assert "would run the program" in str(result.exception) or "not installed" in str(
        result.exception
    )
    assert not trace.exists()


@pytest.mark.parametrize("number", range(2))
def test_a_signature_builds_no_metric_that_runs_a_program(
    number: int, signatures: list[str], trace: Path
) -> None:
    signature = signatures[number]
    with pytest.raises(UsageError, match=r"would run the program 'touch .*--allow-external"):
        metric(signature)
    with pytest.raises(UsageError, match="would run the program"):
        score(["a"], ["a"], metrics=signature)
    with pytest.raises(UsageError, match="would run the program"):
        metric(signature, allow_external=["touch"])
    built = metric(signature, allow_external=[f"touch {trace}"])
    assert built.programs == (f"touch {trace}",)
    explain(signature, signature)
    assert not trace.exists()


def test_a_nested_ensemble_runs_no_program(trace: Path) -> None:
    members = f"chrf+ensemble:metrics=external:command=touch {trace}"
    for signature in (f"ensemble|metrics:{members}|weights:equal", f"ensemble:metrics={members}"):
        with pytest.raises(UsageError, match="an ensemble cannot be a member of another"):
            metric(signature, allow_external=["touch"])
    assert not trace.exists()


def test_an_allowed_command_is_verified(tmp_path: Path) -> None:
    command = f"python {WORD_OVERLAP} references"
    texts = tmp_path / "texts.txt"
    texts.write_text("a b c\nd e\n")
    words = ["score", "-c", str(texts), "-r", str(texts), "-m", f"external:command={command}"]
    scored = CliRunner().invoke(app, [*words, "-f", "json"])
    assert scored.exit_code == 0, scored.output
    results = tmp_path / "results.json"
    results.write_text(scored.stdout)
    refused = CliRunner().invoke(app, ["verify", str(results)])
    assert isinstance(refused.exception, UsageError)
    assert "would run the program" in str(refused.exception)
    allowed = CliRunner().invoke(app, ["verify", str(results), "--allow-external", command])
    assert allowed.exit_code == 0, allowed.output
