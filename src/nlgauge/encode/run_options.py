"""How a model is run, whichever model it is."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class RunOptions:
    """Treatment of texts, precision, device and largest batch of a model."""

    long_text: str = "window"
    precision: str = "float32"
    device: str = "auto"
    batch_tokens: int = 2048
    strip: bool = False  # texts, and put a space before them for RoBERTa and GPT-2
    download: bool = field(default=False, compare=False)  # the values do not depend on it


DEFAULT_OPTIONS = RunOptions()
