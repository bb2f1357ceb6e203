"""nlgauge serve: the HTTP service and its web page."""

import os
import socket
import warnings

from nlgauge.cli import arguments
from nlgauge.cli.arguments import option
from nlgauge.cli.output import print_notes
from nlgauge.core.errors import UnknownTokensWarning, UsageError
from nlgauge.runtime import Runtime
from nlgauge.runtime.memory import freeze_objects, use_one_arena
from nlgauge.service import require_libraries


def serve_command(
    host: str = option("127.0.0.1", "Address to listen on."),
    port: int = option(8000, "Port; 0 chooses a free one.", min=0, max=65535),
    token: str | None = option(
        None, "Bearer token that clients must send.", envvar="NLGAUGE_TOKEN"
    ),
    model: list[str] | None = option(
        None,
        "Model that requests may use, repeatable; the first is the default "
        "[default: NLGAUGE_MODEL, else embedded].",
        metavar="MODEL",
    ),
    allow_host: list[str] | None = option(
        None, "Additional host name to accept, repeatable.", metavar="HOST"
    ),
    max_rows: int = option(2_000, "Maximum rows per request.", min=1),
    max_job_rows: int = option(100_000, "Maximum rows per job.", min=1),
    max_characters: int = option(10_000, "Maximum text length.", min=1),
    max_references: int = option(64, "Maximum references per row.", min=1),
    max_bytes: int = option(32 * 1024 * 1024, "Maximum body size.", min=1024),
    max_seconds: float = option(60, "Time limit of a request.", min=1),
    queue: int = option(256, "Maximum number of waiting requests.", min=1),
    window: float = option(4, "Batching window in ms; 0 disables batching.", min=0),
    device: str = arguments.DEVICE,
    batch_tokens: int = arguments.BATCH_TOKENS,
    download: bool = arguments.DOWNLOAD,
) -> None:
    """Start the web service: scores over HTTP, and a page.

    Examples:

    nlgauge serve

    nlgauge serve --port 8080 --model embedded --model glove

    NLGAUGE_TOKEN=... nlgauge serve --host 0.0.0.0

    The service offers scores, alignments and studies. Open the printed address in a browser;
    /openapi.json documents the API, and `nlgauge score --server URL` uses it. Requests can only use
    the models named with --model, and never open files. A server that is reachable from other
    machines should require a token and use HTTPS through a proxy (allow its host name with
    --allow-host).
    """
    require_libraries()
    use_one_arena()
    from nlgauge.service.app import create_app
    from nlgauge.service.server import server
    from nlgauge.service.settings import LOOPBACK, MODEL_VARIABLE, Limits, Settings, library_model

    models = tuple(dict.fromkeys(model or [library_model()]))
    os.environ[MODEL_VARIABLE] = models[0]  # the default of the library in this process
    named = frozenset(name.lower() for name in allow_host or ())
    limits = Limits(
        bytes=max_bytes,
        rows=max_rows,
        job_rows=max_job_rows,
        text_characters=max_characters,
        references=max_references,
        seconds=max_seconds,
    )
    settings = Settings(
        models=models,
        token=token,
        hosts=LOOPBACK | named if host in LOOPBACK or named else frozenset(),
        limits=limits,
        queue=queue,
        window=window / 1000,
        runtime=Runtime(device, batch_tokens, download=download or None),
    )
    bound = _bind(host, port)
    app = create_app(settings)
    port = bound.getsockname()[1]
    name = f"[{host}]" if ":" in host else host
    print(f"nlgauge serves http://{name}:{port}/ (models: {', '.join(models)})", flush=True)
    if host not in LOOPBACK and token is None:
        open_to_all = "anyone who can reach this machine can use the service"
        print_notes([f"{open_to_all}; require a token with --token or NLGAUGE_TOKEN"])
    warnings.simplefilter("ignore", UnknownTokensWarning)  # answers count them
    running = server(app, host=host, port=port, header_seconds=limits.header_seconds)
    freeze_objects()
    running.run(sockets=[bound])


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {host} port {port}: {error.strerror}; choose another --port "
            "(0 chooses a free one) or --host"
        ) from None
