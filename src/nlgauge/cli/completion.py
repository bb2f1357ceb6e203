"""Shell completion of metric names."""

import re
from collections.abc import MutableMapping

_METRIC_FLAGS = ("-m", "--metric", "--metrics")


def complete_metric(incomplete: str) -> list[tuple[str, str]]:
    """Return the metric names that start with ``incomplete``, with their titles."""
    from nlgauge.metrics import metric_class, metric_names

    matching = [name for name in metric_names() if name.startswith(incomplete)]
    return [(name, metric_class(name)().title) for name in matching]


def repeat_metric_flag(environment: MutableMapping[str, str]) -> None:
    """Write ``-m bleu ch`` as ``-m bleu -m ch``, so that a second metric is completed as well.

    bash passes all words and the index of the current one; zsh and fish pass the words up to it.
    """
    bash = "COMP_WORDS" in environment
    key = "COMP_WORDS" if bash else "_TYPER_COMPLETE_ARGS"
    words = re.split(r"[ \n]", environment.get(key, ""))
    current = int(environment.get("COMP_CWORD", 0)) if bash else len(words) - 1
    flag = next((word for word in reversed(words[:current]) if word.startswith("-")), "")
    if flag in _METRIC_FLAGS and words[current - 1] != flag:
        words.insert(current, "-m")
        environment[key] = " ".join(words)
        if bash:
            environment["COMP_CWORD"] = str(current + 1)
