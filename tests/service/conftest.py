"""Servers for tests: in this process, or listening on a port."""

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


def hashing_settings(**changed: object) -> Settings:
    """Return settings with the hashing model and any host name allowed."""
    return Settings(**{"models": ("hashing",), "hosts": frozenset(), **changed})  # type: ignore[arg-type]


@contextmanager
def listening(settings: Settings) -> Iterator[str]:
    """Run a server on a free port and yield its address."""
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
    with TestClient(create_app(hashing_settings())) as client:
        yield client


@pytest.fixture
def start() -> Iterator[Start]:
    """A function that starts a server with changed settings and returns its address."""
    with ExitStack() as stack:
        yield lambda **changed: stack.enter_context(listening(hashing_settings(**changed)))


@pytest.fixture
def opened() -> Iterator[Open]:
    """A function that opens an application with changed settings in this process."""
    with ExitStack() as stack:
        yield lambda **changed: stack.enter_context(
            TestClient(create_app(hashing_settings(**changed)))
        )


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of a server with short time limits."""
    limits = Limits(bytes=200_000, body_seconds=1.0, header_seconds=1.0)
    with listening(hashing_settings(limits=limits)) as found:
        yield found


@pytest.fixture(scope="session")
def small_address() -> Iterator[str]:
    """The address of a server with low limits on the size of requests."""
    limits = Limits(rows=200, resamples=3000, job_resamples=3000, text_characters=500)
    with listening(hashing_settings(limits=limits, jobs=4)) as found:
        yield found
