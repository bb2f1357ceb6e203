"""Exceptions and warnings; a message states the numbers involved and a solution."""


class NlgaugeError(Exception):
    """Base class of all nlgauge errors; the command line exits with ``exit_code``."""

    exit_code = 1


class UsageError(NlgaugeError, ValueError):
    """The arguments or options are wrong."""

    exit_code = 2


class UnknownMetric(UsageError):
    """No metric has this name."""


class OptionError(UsageError):
    """An option does not exist, or its value is out of range."""


class DataError(NlgaugeError, ValueError):
    """The texts, files or judgements are wrong."""


class NothingToAlign(DataError):
    """A text is empty, has no weight, or has only words that the model does not know."""


class ShapeError(DataError):
    """Lengths or nesting do not fit together."""


class FileError(DataError):
    """A file is missing, unreadable or malformed."""


class ModelError(NlgaugeError):
    """A model cannot be found, verified or used."""


class MissingExtra(ModelError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, wanted: str, package: str, extra: str) -> None:
        super().__init__(
            f"{wanted} needs the package {package!r}, which is not installed; "
            f"install it with: pip install 'nlgauge[{extra}]'"
        )


class UnknownTokensWarning(UserWarning):
    """A model does not know some tokens of the texts, so they are compared as strings."""


class LongTextWarning(UserWarning):
    """A metric takes very long for texts of this length."""


class NotConverged(NlgaugeError):
    """A solver stopped before reaching its tolerance."""
