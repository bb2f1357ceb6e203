"""The embedding cache on disk: a text that a model has encoded is not encoded again."""

from __future__ import annotations

from nlgauge.encode.cache.cached_models import CachedEncoder, CachedMaskedLm, model_identity
from nlgauge.encode.cache.database import (
    CacheContents,
    CacheWarning,
    EmbeddingCache,
    Verification,
    open_cache,
)
from nlgauge.encode.cache.settings import cache_folder, parse_size, size_limit

__all__ = [
    "CacheContents",
    "CacheWarning",
    "CachedEncoder",
    "CachedMaskedLm",
    "EmbeddingCache",
    "Verification",
    "cache_folder",
    "model_identity",
    "open_cache",
    "parse_size",
    "size_limit",
]
