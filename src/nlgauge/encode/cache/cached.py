"""Encoders that compute only what the cache does not hold.

The model itself is opened at the first text that has to be computed: where all is there, neither
its weights nor torch are loaded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Generic, TypeVar

from nlgauge.core.cloud import Cloud, Floats, Tokens
from nlgauge.core.histogram import Histogram
from nlgauge.core.requirements import ModelCard
from nlgauge.encode.cache import records as kept
from nlgauge.encode.cache.shards import Array
from nlgauge.encode.cache.store import Store
from nlgauge.encode.encoder import Encoder, MaskedLm
from nlgauge.encode.registry import best_layers

_CLOUD_FIELDS = frozenset(kept.CLOUD_FIELDS)

Model = TypeVar("Model", bound=Encoder | MaskedLm)


class _Cached(Generic[Model]):
    """What both kinds of cached models share: the card, and the tokens of texts.

    ``identity`` tells all that values depend on besides the text: the model, its files, the ways
    of running it, the versions of the libraries.
    """

    def __init__(
        self, name: str, open_model: Callable[[], Model], identity: Mapping[str, str], store: Store
    ) -> None:
        self._name = name
        self._open_model = open_model
        self._identity = dict(identity)
        self._store = store

    @property
    def model(self) -> Model:
        """The model behind the cache; asking for it loads it."""
        return self._open_model()

    @cached_property
    def card(self) -> ModelCard:
        """The card of the model, without loading it where that was done before."""
        about, key = self._about("card"), kept.text_key("card")
        found = self._store.read(about, [key], ["card"])
        if key not in found:
            card = self.model.card
            facts = {name: getattr(card, name) for name in ("digest", "depth", "dimension")}
            written = kept.of_value({**facts, "libraries": card.libraries})
            self._store.write(about, {key: {"card": written}})
            return card
        known = kept.to_value(found[key]["card"])
        layers, published = self._best_layers(known["depth"])
        known |= {"libraries": tuple(known["libraries"])}
        return ModelCard(name=self._name, layers=layers, published=published, **known)

    def tokenize(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of each text as the model splits it."""
        about = self._about("tokens")
        keys = {text: kept.text_key(text) for text in texts}
        found = self._store.read(about, list(keys.values()), kept.TOKEN_FIELDS)
        missing = [text for text, key in keys.items() if key not in found]
        made = dict(zip(missing, self.model.tokenize(missing), strict=True)) if missing else {}
        self._store.count(about, len(keys) - len(missing), len(missing))
        self._store.write(about, {keys[text]: kept.of_tokens(made[text]) for text in missing})
        made |= {text: kept.to_tokens(found[keys[text]]) for text in keys if text not in made}
        return [made[text] for text in texts]

    def _best_layers(self, depth: int) -> tuple[dict[str, tuple[int, ...]], bool]:
        """What the card says of layers; it is not kept, as the table of layers may be mended."""
        return {}, True

    def _about(self, kind: str, **more: str) -> str:
        return json.dumps({"kind": kind, **self._identity, **more}, sort_keys=True)


class CachedEncoder(_Cached[Encoder]):
    """Clouds from the cache, and from the model where layers of a text are missing."""

    def encode(self, texts: Sequence[str], layers: Sequence[int]) -> list[Cloud]:
        """A cloud for each text, its layers read or computed.

        Only missing layers are computed and kept: what is there keeps its bits, and no layer lies
        on the disk twice.
        """
        about = self._about("clouds")
        keys = {text: kept.text_key(text) for text in texts}
        fields = [*kept.CLOUD_FIELDS, *map(kept.layer_field, layers)]
        found = self._store.read(about, list(keys.values()), fields)
        wanting: dict[tuple[int, ...], list[str]] = {}
        for text, key in keys.items():
            missing = _missing(found.get(key, {}), layers)
            if missing:
                wanting.setdefault(missing, []).append(text)
        for missing, group in wanting.items():
            clouds = self.model.encode(group, missing)
            made = {
                keys[text]: kept.of_cloud(cloud, missing)
                for text, cloud in zip(group, clouds, strict=True)
            }
            self._store.write(about, made)
            for key, record in made.items():
                found[key] = record | found.get(key, {})
        misses = sum(map(len, wanting.values()))
        self._store.count(about, len(keys) - misses, misses)
        clouds_of = {text: kept.to_cloud(found[key], layers) for text, key in keys.items()}
        return [clouds_of[text] for text in texts]

    def _best_layers(self, depth: int) -> tuple[dict[str, tuple[int, ...]], bool]:
        return best_layers(self._name, depth)


class CachedMaskedLm(_Cached[MaskedLm]):
    """Histograms from the cache, and from the model where they are missing.

    One takes a pass of the model for every token, so although it is as long as the vocabulary, it
    saves more work for its bytes than a cloud.
    """

    def histograms(
        self,
        texts: Sequence[str],
        weigh: Callable[[Tokens], Floats],
        *,
        temperatures: Sequence[float] = (1.0,),
        whole_words: bool = False,
    ) -> dict[float, list[Histogram]]:
        """By temperature, what is expected in the places of each text, weighted by ``weigh``.

        The key holds the masses themselves, which is all that weighting does to a histogram.
        """
        tokens = self.tokenize(texts)
        keys = {
            text: kept.text_key(text, weigh(each)) for text, each in zip(texts, tokens, strict=True)
        }
        abouts = {
            t: self._about("histograms", temperature=repr(float(t)), whole_words=str(whole_words))
            for t in temperatures
        }
        wanting: dict[tuple[float, ...], list[str]] = {}
        made: dict[float, dict[str, Histogram]] = {t: {} for t in temperatures}
        for t, about in abouts.items():
            found = self._store.read(about, list(keys.values()), kept.HISTOGRAM_FIELDS)
            made[t] = {x: kept.to_histogram(found[key]) for x, key in keys.items() if key in found}
            self._store.count(about, len(made[t]), len(keys) - len(made[t]))
        for text in keys:
            missing = tuple(t for t in made if text not in made[t])
            if missing:
                wanting.setdefault(missing, []).append(text)
        for missing, group in wanting.items():
            computed = self.model.histograms(
                group, weigh, temperatures=missing, whole_words=whole_words
            )
            for t, histograms in computed.items():
                new = dict(zip(group, histograms, strict=True))
                self._store.write(
                    abouts[t], {keys[x]: kept.of_histogram(h) for x, h in new.items()}
                )
                made[t] |= new
        return {t: [made[t][text] for text in texts] for t in temperatures}


def _missing(record: Mapping[str, Array], layers: Sequence[int]) -> tuple[int, ...]:
    """The layers to compute: those that are not there, or all if the tokens are not."""
    if not record.keys() >= _CLOUD_FIELDS:
        return tuple(sorted(set(layers)))
    return tuple(sorted({n for n in layers if kept.layer_field(n) not in record}))
