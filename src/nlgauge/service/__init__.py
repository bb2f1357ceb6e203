"""The web service: scores, alignments and studies over HTTP, and a page for browsers.

``client`` needs the standard library only; everything else needs the extra ``service``.
"""

from importlib.util import find_spec

from nlgauge.core.errors import MissingExtra


def require_libraries() -> None:
    """Raise MissingExtra unless the libraries of the extra ``service`` are installed."""
    for package in ("fastapi", "uvicorn", "prometheus_client"):
        if find_spec(package) is None:
            raise MissingExtra("nlgauge serve", package, "service")
