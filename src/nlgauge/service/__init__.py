"""The HTTP service for scores, alignments and studies, and its web page.

``client`` only needs the standard library; everything else needs the extra ``service``.
"""

from importlib.util import find_spec

from nlgauge.core.errors import MissingExtra


def require_libraries() -> None:
    """Raise MissingExtra unless the libraries of the extra ``service`` are installed."""
    specs = {
        "fastapi": find_spec("fastapi"),
        "uvicorn": find_spec("uvicorn"),
        "prometheus_client": find_spec("prometheus_client"),
    }
    for package, spec in specs.items():
        if spec is None:
            raise MissingExtra("nlgauge serve", package, "service")
