"""An embedding cache on disk: texts that a model has seen cost it nothing again.

A folder holds an sqlite index and safetensors shards; see ``shards`` for the files, ``index`` and
``store`` for what happens when several processes share them or one is damaged.
"""

from __future__ import annotations

from nlgauge.encode.cache.cached import CachedEncoder, CachedMaskedLm
from nlgauge.encode.cache.place import CACHE_VARIABLE, SIZE_VARIABLE, chosen_cache, parse_size
from nlgauge.encode.cache.store import CacheNote, Checked, Store, open_store

__all__ = [
    "CACHE_VARIABLE",
    "SIZE_VARIABLE",
    "CacheNote",
    "CachedEncoder",
    "CachedMaskedLm",
    "Checked",
    "Store",
    "chosen_cache",
    "open_store",
    "parse_size",
]
