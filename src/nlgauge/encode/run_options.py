"""Options for running a model."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class RunOptions:
    """Treatment of texts, precision, device and maximum batch size of a model."""

    long_text: str = "window"
    precision: str = "float32"
    device: str = "auto"
    batch_tokens: int = 2048
    strip: bool = False  # strip texts, and prepend a space for RoBERTa and GPT-2
    download: bool = field(default=False, compare=False)  # the values do not depend on it


DEFAULT_OPTIONS = RunOptions()
