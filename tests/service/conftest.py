"""Servers for the tests: one in the process, one on a port of its own."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

pytest.importorskip("fastapi", reason="the extra 'service' is not installed")
pytest.importorskip("uvicorn", reason="the extra 'service' is not installed")

from starlette.testclient import TestClient

from nlgauge.service.app import create_app
from nlgauge.service.server import server
from nlgauge.service.settings import Limits, Settings

Start = Callable[..., str]
Open = Callable[..., TestClient]


def quick(**changed: object) -> Settings:
    """Settings of a server that needs no model and answers to any name."""
    return Settings(**{"models": ("hashing",), "hosts": frozenset(), **changed})  # type: ignore[arg-type]


@contextmanager
def listening(settings: Settings) -> Iterator[str]:
    """The address of a server that listens for real."""
    bound = socket.create_server(("127.0.0.1", 0))
    running = server(
        create_app(settings),
        host="127.0.0.1",
        port=0,
        header_seconds=settings.limits.header_seconds,
    )
    thread = threading.Thread(target=lambda: running.run(sockets=[bound]))
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    running.should_exit = True
    thread.join()


@pytest.fixture(scope="session")
def api() -> Iterator[TestClient]:
    with TestClient(create_app(quick())) as client:
        yield client


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a server with changed settings and gives its address."""
    with ExitStack() as stack:
        yield lambda **changed: stack.enter_context(listening(quick(**changed)))


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens an application with changed settings in this process."""
    with ExitStack() as stack:
        yield lambda **changed: stack.enter_context(TestClient(create_app(quick(**changed))))


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """A server that listens for real, with short times."""
    limits = Limits(bytes=200_000, body_seconds=1.0, header_seconds=1.0)
    with listening(quick(limits=limits)) as found:
        yield found


@pytest.fixture(scope="session")
def small_address() -> Iterator[str]:
    """A server that listens for real, with low limits."""
    limits = Limits(rows=200, resamples=3000, job_resamples=3000, text_characters=500)
    with listening(quick(limits=limits, jobs=4)) as found:
        yield found
