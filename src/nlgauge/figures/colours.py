"""Colours that are distinguishable with colour blindness and in greyscale."""

# ColorBrewer's YlGnBu, reversed, without its lightest fifth, which is invisible on white paper.
STOPS: tuple[str, ...] = ("#081d58", "#1f2f87", "#234da0", "#2072b1", "#2498c1")
STOPS += ("#42b6c4", "#73c8bd", "#abdeb7", "#d6efb3")
# ColorBrewer's PuOr: orange below 0, purple above.
DIVERGING = ("#b35806", "#f1a340", "#fee0b6", "#f7f7f7", "#d8daeb", "#998ec3", "#542788")
# Categorical colours of Okabe and Ito.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#000000")


def ramp(steps: int, start: float = 0.0) -> tuple[str, ...]:
    """Return ``steps`` evenly spaced colours; ``start`` is the share of dark colours to omit."""
    return tuple(_interpolate(start + (1 - start) * step / (steps - 1)) for step in range(steps))


def is_dark(colour: str) -> bool:
    """Return whether white text has a higher contrast (WCAG) with this colour than black text."""
    weights = (0.2126, 0.7152, 0.0722)
    channels = (x / 255 for x in bytes.fromhex(colour[1:]))
    linear = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in channels)
    return sum(w * x for w, x in zip(weights, linear, strict=True)) < 0.179


def _interpolate(fraction: float) -> str:
    at = min(max(fraction, 0.0), 1.0) * (len(STOPS) - 1)
    low = min(int(at), len(STOPS) - 2)
    pairs = zip(*(bytes.fromhex(stop[1:]) for stop in STOPS[low : low + 2]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (at - low)):02x}" for a, b in pairs)
