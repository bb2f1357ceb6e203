"""Encoders and masked language models that only compute what is not in the cache.

The model itself is opened when the first text has to be computed: if the cache has all texts,
neither the weights nor torch are loaded.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from nlgauge.core.arrays import Floats
from nlgauge.core.cloud import Cloud, Tokens
from nlgauge.core.histogram import Histogram
from nlgauge.core.requirements import ModelCard, Unknown
from nlgauge.core.versions import version_of
from nlgauge.encode.cache import records
from nlgauge.encode.cache.database import EmbeddingCache, Record
from nlgauge.encode.model_files import find_model
from nlgauge.encode.protocols import Encoder, MaskedLm
from nlgauge.encode.registry import model_card
from nlgauge.encode.run_options import RunOptions

_LIBRARIES = ("nlgauge", "torch", "transformers", "tokenizers")
_UNRELATED = {"batch_tokens", "download"}  # options that do not affect values
_SETTING_FILES = ("*.json", "*.txt", "*.model")

Model = TypeVar("Model", bound=Encoder | MaskedLm)
Part = TypeVar("Part", int, float)


def model_identity(name: str, options: RunOptions) -> dict[str, str]:
    """Return everything that a value depends on, apart from its text.

    These are the digests of the model's files, the run options, and the versions of the libraries
    in signatures.
    """
    relevant = {key: str(value) for key, value in asdict(options).items() if key not in _UNRELATED}
    versions = {library: version_of(library) for library in _LIBRARIES}
    if name == "hashing":
        return {"model": name, **relevant, "nlgauge": versions["nlgauge"]}
    located = find_model(name, download=options.download)
    settings = hashlib.sha256()
    for path in sorted(path for pattern in _SETTING_FILES for path in located.folder.glob(pattern)):
        settings.update(f"{path.name} {path.stat().st_size} ".encode() + path.read_bytes())
    files = {"weights": located.digest, "settings": settings.hexdigest()[:12]}
    # Only the last component of a folder, so that all paths to a model give the same identity.
    return {"model": Path(name).name, **files, **relevant, **versions}


class _CachedModel(Generic[Model]):
    """The card and the tokens of a model, from the cache if possible."""

    def __init__(
        self,
        name: str,
        open_model: Callable[[], Model],
        identity: Mapping[str, str],
        cache: EmbeddingCache,
    ) -> None:
        self._name = name
        self._open_model = open_model
        self._model_identity = dict(identity)
        self._cache = cache

    @property
    def model(self) -> Model:
        """The model behind the cache, loaded at the first access."""
        return self._open_model()

    @cached_property
    def card(self) -> ModelCard:
        """The card of the model; the model is loaded if the card is not in the cache."""
        identity, key = self._identity("card"), records.text_key("card")
        stored = self._cache.read(identity, [key], [records.CARD])
        if key not in stored:
            card = self.model.card
            facts = {x: getattr(card, x) for x in ("digest", "depth", "dimension", "libraries")}
            self._cache.write(identity, {key: {records.CARD: records.pack_json(facts)}})
            return card
        facts = records.unpack_json(stored[key][records.CARD])
        # Layers and languages come from the registry, which may be newer than the cache.
        return model_card(self._name, **{**facts, "libraries": tuple(facts["libraries"])})

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of each text."""
        identity = self._identity("tokens")
        keys = {text: records.text_key(text) for text in texts}
        stored = self._read(identity, keys, records.TOKENS)
        tokens = {text: records.unpack_tokens(content)[0] for text, content in stored.items()}
        missing = [text for text in keys if text not in stored]
        if missing:
            new = dict(zip(missing, self.model.tokenize(missing), strict=True))
            packed = {keys[x]: {records.TOKENS: records.pack_tokens(new[x])} for x in missing}
            self._cache.write(identity, packed)
            tokens |= new
        return [tokens[text] for text in texts]

    def _read(self, identity: str, keys: Mapping[str, bytes], part: str) -> dict[str, bytes]:
        """Return one part of each text in the cache, and count hits and misses."""
        records_found = self._cache.read(identity, list(keys.values()), [part])
        stored = {x: records_found[key][part] for x, key in keys.items() if key in records_found}
        self._cache.count(identity, len(stored), len(keys) - len(stored))
        return stored

    def _identity(self, kind: str, **details: str) -> str:
        values = {"kind": kind, "records": records.VERSION, **self._model_identity, **details}
        return json.dumps(values, sort_keys=True)


class CachedEncoder(_CachedModel[Encoder]):
    """Clouds from the cache, and from the model if layers of a text are missing."""

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        """Return a cloud for each text; only missing layers are computed and stored."""
        identity = self._identity("clouds")
        keys = {text: records.text_key(text) for text in texts}
        parts = [records.TOKENS, *map(records.layer_part, layers)]
        stored = self._cache.read(identity, list(keys.values()), parts)
        groups = _group({x: _list_missing(stored.get(key, {}), layers) for x, key in keys.items()})
        for missing, group in groups.items():
            clouds = zip(group, self.model.encode(group, missing), strict=True)
            packed = {keys[text]: records.pack_cloud(cloud, missing) for text, cloud in clouds}
            self._cache.write(identity, packed)
            for key, record in packed.items():
                stored[key] = record | stored.get(key, {})
        misses = sum(map(len, groups.values()))
        self._cache.count(identity, len(keys) - misses, misses)
        by_text = {text: records.unpack_cloud(stored[key], layers) for text, key in keys.items()}
        return [by_text[text] for text in texts]


class CachedMaskedLm(_CachedModel[MaskedLm]):
    """Histograms from the cache, and from the model if they are missing."""

    def histograms(
        self,
        texts: Sequence[str],
        weigh: Callable[[Tokens], Floats],
        *,
        temperatures: Sequence[float] = (1.0,),
        whole_words: bool = False,
        unknown: Unknown = "string",
    ) -> dict[float, list[Histogram]]:
        """Return the histogram of each text, weighted by ``weigh``, for every temperature.

        The keys of the cache include the masses of the tokens, which ``weigh`` determines.
        """
        tokens = self.tokenize(texts)
        keys = {x: records.text_key(x, weigh(each)) for x, each in zip(texts, tokens, strict=True)}
        identities: dict[float, str] = {}
        known: dict[float, dict[str, Histogram]] = {}
        for t in temperatures:
            options = {"temperature": repr(float(t)), "whole_words": str(whole_words)}
            identities[t] = self._identity("histograms", **options, unknown=unknown)
            stored = self._read(identities[t], keys, records.HISTOGRAM)
            known[t] = {x: records.unpack_histogram(content) for x, content in stored.items()}
        groups = _group({x: tuple(t for t in known if x not in known[t]) for x in keys})
        for missing, group in groups.items():
            computed = self.model.histograms(
                group, weigh, temperatures=missing, whole_words=whole_words, unknown=unknown
            )
            for t, histograms in computed.items():
                new = dict(zip(group, histograms, strict=True))
                packed = {keys[x]: records.pack_histogram(new[x]) for x in group}
                self._cache.write(identities[t], packed)
                known[t] |= new
        return {t: [known[t][text] for text in texts] for t in temperatures}


def _list_missing(record: Record, layers: Sequence[int]) -> tuple[int, ...]:
    """Return the layers to compute: those not stored, or all if the tokens are not."""
    stored = record if records.TOKENS in record else ()
    return tuple(sorted({n for n in layers if records.layer_part(n) not in stored}))


def _group(missing: Mapping[str, tuple[Part, ...]]) -> dict[tuple[Part, ...], list[str]]:
    """Group the texts by their missing parts."""
    groups: dict[tuple[Part, ...], list[str]] = {}
    for text, parts in missing.items():
        if parts:
            groups.setdefault(parts, []).append(text)
    return groups
