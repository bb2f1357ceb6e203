"""The colours of costs, from dark blue to pale green: safe for colour blindness and grey print."""

from __future__ import annotations

# ColorBrewer's YlGnBu, reversed, without its lightest fifth, which cannot be seen on white paper.
STOPS = (
    "#081d58",
    "#1f2f87",
    "#234da0",
    "#2072b1",
    "#2498c1",
    "#42b6c4",
    "#73c8bd",
    "#abdeb7",
    "#d6efb3",
)


def ramp(steps: int, start: float = 0.0) -> tuple[str, ...]:
    """That many colours, evenly spaced up to the dearest; ``start`` leaves out the darkest."""
    return tuple(_between(start + (1 - start) * step / (steps - 1)) for step in range(steps))


def is_dark(colour: str) -> bool:
    """Whether letters on this colour should be white: its luma is below the middle."""
    red, green, blue = _channels(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue < 140


def _between(fraction: float) -> str:
    at = min(max(fraction, 0.0), 1.0) * (len(STOPS) - 1)
    low = min(int(at), len(STOPS) - 2)
    pairs = zip(_channels(STOPS[low]), _channels(STOPS[low + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (at - low)):02x}" for a, b in pairs)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
