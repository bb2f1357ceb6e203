"""Runtime: settings of where and how models run, an argument of every public function."""

import os
from dataclasses import dataclass
from pathlib import Path

from nlgauge.core.errors import OptionError

DOWNLOAD_VARIABLE = "NLGAUGE_DOWNLOAD"


@dataclass(frozen=True)
class Runtime:
    """Where and how models run; scores only depend on `lang` and `precision`.

    Parameters
    ----------
    device
        ``"auto"`` (a GPU if there is one), ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"mps"``. A GPU
        that is named also solves regularised transport and soft matching (scores change by less
        than 1e-9); with ``"auto"`` a processor does.
    batch_tokens
        Maximum tokens in one forward pass of a model, including padding.
    precision
        Default of the option ``precision``: ``"float32"``, ``"bfloat16"`` or ``"int8"``.
    cache
        Folder of the embedding cache. ``None`` reads ``NLGAUGE_CACHE``; ``""`` disables caching.
    download
        Whether models may be downloaded. ``None`` reads ``NLGAUGE_DOWNLOAD``.
    lang
        Language code of the texts, such as ``"ja"``; determines unset options of metrics.
    threads
        Maximum number of threads. ``None`` uses ``OMP_NUM_THREADS``, else all cores.

    Examples
    --------
    >>> import nlgauge
    >>> scores = nlgauge.score(["猫坐着。"], ["猫坐下。"], runtime=nlgauge.Runtime(lang="zh"))
    >>> scores["bleu"].signature["tok"]
    'zh'
    """

    device: str = "auto"
    batch_tokens: int = 2048
    precision: str | None = None
    cache: str | Path | None = None
    download: bool | None = None
    lang: str | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        for name in ("batch_tokens", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise OptionError(f"{name} must be at least 1, got {value}")

    @property
    def may_download(self) -> bool:
        """Whether models may be downloaded, by this setting or by the environment."""
        if self.download is None:
            return os.environ.get(DOWNLOAD_VARIABLE, "") not in {"", "0"}
        return self.download


DEFAULT = Runtime()
