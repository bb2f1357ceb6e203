"""Encoders and masked language models that compute only what the cache lacks.

The model itself is opened for the first text that has to be computed: if the cache holds all of
them, neither its weights nor torch are loaded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Generic, TypeVar

from nlgauge.core.cloud import Cloud, Floats, Tokens
from nlgauge.core.histogram import Histogram
from nlgauge.core.requirements import ModelCard
from nlgauge.core.versions import version_of
from nlgauge.encode.cache import records
from nlgauge.encode.cache.database import EmbeddingCache, Record
from nlgauge.encode.encoder import Encoder, MaskedLm
from nlgauge.encode.model_files import find_model
from nlgauge.encode.registry import best_layers, languages_of
from nlgauge.encode.run_options import RunOptions

_LIBRARIES = ("nlgauge", "torch", "transformers", "tokenizers")
_UNRELATED = {"batch_tokens", "download"}  # options that values do not depend on
_SETTING_FILES = ("*.json", "*.txt", "*.model")

Model = TypeVar("Model", bound=Encoder | MaskedLm)


def model_identity(name: str, options: RunOptions) -> dict[str, str]:
    """Return all that a value depends on besides its text.

    That is the digests of the model's files, the run options, and the versions of the libraries,
    which signatures state.
    """
    chosen = {key: str(value) for key, value in asdict(options).items() if key not in _UNRELATED}
    versions = {library: version_of(library) for library in _LIBRARIES}
    if name == "hashing":
        return {"model": name, **chosen, "nlgauge": versions["nlgauge"]}
    located = find_model(name, download=options.download)
    settings = hashlib.sha256()
    for path in sorted(path for each in _SETTING_FILES for path in located.folder.glob(each)):
        settings.update(f"{path.name} {path.stat().st_size} ".encode() + path.read_bytes())
    files = {"weights": located.digest, "settings": settings.hexdigest()[:12]}
    # Only the last component of a folder, so that every path to a model means the same model.
    return {"model": Path(name).name, **files, **chosen, **versions}


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
        """The card of the model, which is loaded if the cache has no card."""
        identity, key = self._identity("card"), records.text_key("card")
        found = self._cache.read(identity, [key], [records.CARD])
        if key not in found:
            card = self.model.card
            facts = {x: getattr(card, x) for x in ("digest", "depth", "dimension", "libraries")}
            self._cache.write(identity, {key: {records.CARD: records.pack_json(facts)}})
            return card
        known = records.unpack_json(found[key][records.CARD])
        known["libraries"] = tuple(known["libraries"])
        # Layers and languages come from the registry, which may be newer than the cache.
        layers, published = self._best_layers(known["depth"])
        languages = languages_of(self._name)
        return ModelCard(
            self._name, layers=layers, published=published, languages=languages, **known
        )

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of each text."""
        identity = self._identity("tokens")
        keys = {text: records.text_key(text) for text in texts}
        found = self._cache.read(identity, list(keys.values()), [records.TOKENS])
        missing = [text for text, key in keys.items() if key not in found]
        tokens = dict(zip(missing, self.model.tokenize(missing), strict=True)) if missing else {}
        self._cache.count(identity, len(keys) - len(missing), len(missing))
        packed = {keys[x]: {records.TOKENS: records.pack_tokens(tokens[x])} for x in missing}
        self._cache.write(identity, packed)
        for text, key in keys.items():
            if key in found:
                tokens[text], *_ = records.unpack_tokens(found[key][records.TOKENS])
        return [tokens[text] for text in texts]

    def _best_layers(self, _depth: int) -> tuple[dict[str, tuple[int, ...]], bool]:
        return {}, True

    def _identity(self, kind: str, **more: str) -> str:
        return json.dumps({"kind": kind, **self._model_identity, **more}, sort_keys=True)


class CachedEncoder(_CachedModel[Encoder]):
    """Clouds from the cache, and from the model if layers of a text are missing."""

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        """Return a cloud for each text; only missing layers are computed and stored."""
        identity = self._identity("clouds")
        keys = {text: records.text_key(text) for text in texts}
        parts = [records.TOKENS, *map(records.layer_part, layers)]
        found = self._cache.read(identity, list(keys.values()), parts)
        groups: dict[tuple[int, ...], list[str]] = {}
        for text, key in keys.items():
            missing = _missing(found.get(key, {}), layers)
            if missing:
                groups.setdefault(missing, []).append(text)
        for missing, group in groups.items():
            clouds = self.model.encode(group, missing)
            packed = {
                keys[text]: records.pack_cloud(cloud, missing)
                for text, cloud in zip(group, clouds, strict=True)
            }
            self._cache.write(identity, packed)
            for key, record in packed.items():
                found[key] = record | found.get(key, {})
        misses = sum(map(len, groups.values()))
        self._cache.count(identity, len(keys) - misses, misses)
        by_text = {text: records.unpack_cloud(found[key], layers) for text, key in keys.items()}
        return [by_text[text] for text in texts]

    def _best_layers(self, depth: int) -> tuple[dict[str, tuple[int, ...]], bool]:
        return best_layers(self._name, depth)


class CachedMaskedLm(_CachedModel[MaskedLm]):
    """Histograms from the cache, and from the model if they are missing."""

    def histograms(
        self,
        texts: Sequence[str],
        weigh: Callable[[Tokens], Floats],
        *,
        temperatures: Sequence[float] = (1.0,),
        whole_words: bool = False,
    ) -> dict[float, list[Histogram]]:
        """Return by temperature the weighted mean expectation of each text.

        The keys include the masses of the tokens, which is all that ``weigh`` contributes.
        """
        tokens = self.tokenize(texts)
        keys = {x: records.text_key(x, weigh(each)) for x, each in zip(texts, tokens, strict=True)}
        identities = {
            t: self._identity(
                "histograms", temperature=repr(float(t)), whole_words=str(whole_words)
            )
            for t in temperatures
        }
        known: dict[float, dict[str, Histogram]] = {}
        for t, identity in identities.items():
            found = self._cache.read(identity, list(keys.values()), [records.HISTOGRAM])
            known[t] = {
                text: records.unpack_histogram(found[key][records.HISTOGRAM])
                for text, key in keys.items()
                if key in found
            }
            self._cache.count(identity, len(known[t]), len(keys) - len(known[t]))
        groups: dict[tuple[float, ...], list[str]] = {}
        for text in keys:
            missing = tuple(t for t in known if text not in known[t])
            if missing:
                groups.setdefault(missing, []).append(text)
        for missing, group in groups.items():
            computed = self.model.histograms(
                group, weigh, temperatures=missing, whole_words=whole_words
            )
            for t, histograms in computed.items():
                new = dict(zip(group, histograms, strict=True))
                packed = {
                    keys[text]: {records.HISTOGRAM: records.pack_histogram(each)}
                    for text, each in new.items()
                }
                self._cache.write(identities[t], packed)
                known[t] |= new
        return {t: [known[t][text] for text in texts] for t in temperatures}


def _missing(record: Record, layers: Sequence[int]) -> tuple[int, ...]:
    """Return the layers to compute: those not stored, or all if the tokens are not."""
    stored = record if records.TOKENS in record else ()
    return tuple(sorted({n for n in layers if records.layer_part(n) not in stored}))
