"""The command `nlgauge serve` prints its address, answers there, and stops at a signal."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from urllib.request import urlopen

import pytest

from nlgauge.cli import main


def test_serving_from_the_command_line() -> None:
    words = [sys.executable, "-m", "nlgauge", "serve", "--port", "0", "--model", "hashing"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None and run.stderr is not None
        line = run.stdout.readline()
        assert line.startswith("nlgauge serves http://127.0.0.1:") and "(models: hashing)" in line
        address = line.split()[2]
        with urlopen(f"{address}health", timeout=120) as answer:
            assert json.loads(answer.read())["models"] == ["hashing"]
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=120) == 130
        assert "Traceback" not in run.stderr.read()


@pytest.mark.parametrize(
    ("words", "messages"),
    [
        (["--port", "PORT"], "choose another --port"),
        (["--port", "0", "--model", "nowhere.vec"], "nowhere.vec"),
        (["--port", "0", "--token", ""], "the token is empty"),
    ],
)
def test_invalid_options_are_reported(
    words: list[str],
    messages: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NLGAUGE_MODEL", "hashing")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with pytest.raises(SystemExit) as ended:
            main(["serve", *(port if word == "PORT" else word for word in words)])
    assert ended.value.code in (1, 2)
    assert messages in capsys.readouterr().err
