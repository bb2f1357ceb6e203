"""torch losses based on the transport of the metrics, for training and reranking.

>>> from nlgauge.torch import transport_loss
"""

from nlgauge.core.errors import MissingExtra

try:
    from nlgauge.adapters.transport_torch import transport_loss
except ModuleNotFoundError:
    raise MissingExtra("nlgauge.torch", "torch", "torch") from None

__all__ = ["transport_loss"]
