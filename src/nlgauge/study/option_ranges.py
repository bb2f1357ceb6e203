"""Values of an option to try, from a short notation.

0..6          integers, one by one
.5..3         eleven numbers, evenly spaced, ends included (an end has a decimal point)
-1..2:7       seven numbers, evenly spaced
.01..10:log4  four numbers, each the same multiple of the one before
.1,1,inf      a list, of numbers, names and ranges
"""

from contextlib import suppress
from itertools import pairwise
from math import inf, isfinite

import numpy as np

from nlgauge.core.errors import OptionError

Value = int | float | str

USUAL = 11
"""Numbers in a range of decimals without a count: ten steps."""
MOST = 1000
"""Maximum number of values of an option; a mistyped range would run for weeks."""


def read_values(text: str) -> tuple[Value, ...]:
    """Return the values of a notation such as ``0..6`` or ``.1,1,10``, each once, in order."""
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise OptionError(f"{text!r} has no value before or after a comma")
    values: dict[Value, None] = {}
    for part in parts:
        values |= dict.fromkeys(_range(part) if ".." in part else [_value(part)])
    if len(values) > MOST:
        raise OptionError(f"{text!r} stands for {len(values):,} values; at most {MOST:,} are tried")
    return tuple(values)


def is_geometric(values: tuple[Value, ...]) -> bool:
    """Return whether three or more numbers grow by a constant factor (a logarithmic axis)."""
    numbers = [value for value in values if not isinstance(value, str) and 0 < value < inf]
    if len(numbers) != len(values) or len(numbers) < 3:
        return False
    ratios = [after / before for before, after in pairwise(sorted(numbers))]
    return max(ratios) - min(ratios) < 0.01 * min(ratios) and min(ratios) > 1.2


def _value(text: str) -> Value:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _range(text: str) -> list[Value]:
    ends, _, count = text.partition(":")
    first, _, last = ends.partition("..")
    low, high = _value(first.strip()), _value(last.strip())
    if isinstance(low, str) or isinstance(high, str) or not (isfinite(low) and isfinite(high)):
        raise OptionError(f"{text!r} is not a range; write numbers: 0..6, .5..3, -1..2:7")
    if low >= high:
        raise OptionError(f"{text!r} ends at {high} but starts at {low}; write the lower end first")
    is_integer = isinstance(low, int) and isinstance(high, int)
    if not count and is_integer:
        if high - low >= MOST:
            raise OptionError(f"{text!r} holds more than the {MOST:,} values that may be tried")
        return list(range(int(low), int(high) + 1))
    steps = count.removeprefix("log") or str(USUAL)
    if not steps.isdecimal() or not 2 <= int(steps) <= MOST:
        raise OptionError(
            f"{text!r} requests {steps!r} values; give a number from 2 to {MOST:,}, as in .5..3:6 "
            "or, for equal factors, .01..10:log4"
        )
    space = np.geomspace if count.startswith("log") else np.linspace
    if low <= 0 and space is np.geomspace:
        raise OptionError(f"{text!r} starts at {low:g}; equal factors need a start above 0")
    return [_round(x, is_integer) for x in space(low, high, int(steps)).tolist()]


def _round(number: float, is_integer: bool) -> Value:
    """Return the number to ten digits (.1 + .2 is .3); an integer if both ends are integers."""
    short = float(f"{number:.10g}")
    return int(short) if is_integer and short.is_integer() else short
