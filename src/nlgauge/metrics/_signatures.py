"""Reader of signatures of nlgauge and sacrebleu, in sacrebleu's long or short form (`#:1`)."""

import re
from collections.abc import Mapping

from nlgauge.core.errors import UsageError
from nlgauge.core.options import format_value
from nlgauge.core.signature import Signature

_CHRF = re.compile(r"chrf(\d+(?:\.\d+)?)?(\+*)", re.IGNORECASE)
SHORT_VERSION = "v"  # the key of nlgauge's version in its short signatures
_NUMBERS = re.compile(r"\s=\s")  # sacrebleu prints "signature = score ..."
_SHARED = {"#": "nrefs", "v": "version", "t": "test", "l": "lang", "S": "subset", "o": "origlang"}
_SHARED |= {"rs": "seed", "c": "case", "e": "eff"}
_SHORT = {
    "bleu": {**_SHARED, "s": "smooth"},
    "chrf": {**_SHARED, "s": "space"},
    "ter": {**_SHARED, "nr": "norm", "pn": "punct", "as": "asian"},
}
_NAMES = {"smooth": "BLEU", "nc": "chrF2", "norm": "TER"}  # keys that identify a metric


def read_signature(text: str) -> Signature:
    """Return the signature of a text, with the names and keys of nlgauge's own signatures."""
    written = text.strip()
    name = written.partition("|")[0]
    chrf = _CHRF.fullmatch(name)
    metric = "chrf" if chrf else name.lower()
    if metric not in _SHORT:
        _require_name(written)
        return _expand_keys(Signature.parse(written))
    written = _NUMBERS.split(written, maxsplit=1)[0]
    pieces = written.split("|")[1:]
    long, extra = [], []
    for piece in pieces:
        key, colon, value = piece.partition(":")
        if metric == "ter" and key == "t" and value == "tercom":  # t is the test set, too
            key = "tok"
        long.append(f"{_SHORT[metric].get(key, key)}{colon}{value}")
    if chrf and float(chrf[1] or 2) != 2:
        extra = [f"beta:{format_value(float(chrf[1]))}"]
    signature = Signature.parse("|".join([metric, *long, *extra]))
    marks = len(chrf[2]) if chrf else 0
    words = dict(signature.keys).get("nw", str(marks))
    if marks and words != str(marks):
        raise UsageError(
            f"signature {written!r}: {name} has word n-grams up to {marks}, nw {words}"
        )
    return signature


def abbreviate(metric: str, keys: Mapping[str, str]) -> dict[str, str]:
    """Return keys of BLEU, chrF or TER as in sacrebleu's short signatures."""
    short = {long: key for key, long in _SHORT[metric].items()}
    if metric == "ter":
        short["tok"] = "t"
    return {short.get(key, key): value for key, value in keys.items()}


def is_short(signature: Signature) -> bool:
    """Return whether a signature of nlgauge is short, with changed options only."""
    return SHORT_VERSION in dict(signature.keys)


def _expand_keys(signature: Signature) -> Signature:
    """Return a signature with ``nrefs`` for ``#``; a short one keeps the key of its version."""
    keys = [("nrefs" if key == "#" else key, value) for key, value in signature.keys]
    return Signature.of(signature.name, keys)


def _require_name(written: str) -> None:
    """Raise an error if a signature starts with a key: sacrebleu's JSON has the name elsewhere."""
    pieces = written.split("|")
    if pieces[0].partition(":")[0] not in ("nrefs", "#"):
        return
    keys = {_SHORT["ter"].get(key, key) for key in (piece.partition(":")[0] for piece in pieces)}
    names = [name for key, name in _NAMES.items() if key in keys] or ["BLEU"]
    raise UsageError(
        f"signature {written!r} does not start with the name of its metric; put it in front, "
        f"such as {names[0]}|{written}"
    )
