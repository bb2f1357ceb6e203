"""A fuzzer of readers and parsers: no exception but NlgaugeError, and no hang.

    python tests/faults/fuzz.py --runs 100000            guided by coverage if atheris is installed
    python tests/faults/fuzz.py --runs 100000 --plain    random changes of valid inputs

The first byte of an input chooses the target, the others are its data. Inputs that fail are written
to tests/faults/regression_inputs, and test_fuzz.py runs them again.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import random
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

REGRESSION_INPUTS = Path(__file__).parent / "regression_inputs"
_SECONDS = 20  # an input that takes longer counts as a hang
_temporary = tempfile.TemporaryDirectory(prefix="nlgauge-fuzz-")  # deleted at exit
_folder = Path(_temporary.name)

try:
    import atheris
except ImportError:
    atheris = None

if atheris is not None and __name__ == "__main__" and "--plain" not in sys.argv:
    with atheris.instrument_imports(include=["nlgauge"]):
        import nlgauge.data.systems
        import nlgauge.metrics

import nlgauge.metrics  # noqa: E402
from nlgauge.core.errors import NlgaugeError  # noqa: E402 (imported after the instrumentation)
from nlgauge.core.signature import Signature  # noqa: E402
from nlgauge.data.systems import InputFiles, read_systems  # noqa: E402
from nlgauge.metrics import metric  # noqa: E402
from nlgauge.scale.parts import cut_parts, form_part  # noqa: E402


def _table(ending: str) -> Callable[[bytes], None]:
    def target(content: bytes) -> None:
        path = _folder / f"rows.{ending}"
        path.write_bytes(content)
        sources = InputFiles([str(path)], [])
        ((_, (span,)),) = sources.ranges()
        cut = list(cut_parts(span.rows(Counter()), 3))
        assert all(form_part(i, batch).name for i, (_, batch) in enumerate(cut))
        read_systems([str(path)], [])

    return target


def _texts(content: bytes) -> None:
    candidate, _, reference = content.partition(b"\xff\xff")
    for name, text in {"c": candidate, "r": reference}.items():
        (_folder / f"{name}.txt").write_bytes(text)
    paths = [str(_folder / "c.txt")], [str(_folder / "r.txt")]
    list(InputFiles(*paths).rows())
    read_systems(*paths)


def _signature(content: bytes) -> None:
    text = content.decode("utf-8", "surrogateescape")
    assert str(Signature.parse(str(Signature.parse(text)))) == str(Signature.parse(text))


def _spec(content: bytes) -> None:
    built = metric(content.decode("utf-8", "surrogateescape"))
    named = metric(built.label())  # without spaces around values, which a signature may have
    assert metric(named.label()) == named


TARGETS: tuple[Callable[[bytes], None], ...] = (
    _table("jsonl"),
    _table("tsv"),
    _table("csv"),
    _table("jsonl.gz"),
    _table("jsonl.zst"),
    _texts,
    _signature,
    _spec,
)

_ROW = b'{"candidate": "a b", "references": ["a", "\\u00e4"], "id": 1, "system": "s"}\n'
_SIGNED = b"bertscore|nrefs:1|over_references:best|model:hashing|weights:idf|layer:3|alpha:0.5"
_ZSTANDARD_FRAME = bytes.fromhex("28b52ffd24094900007b7d0a7b7d0a7b7d0a24e6d4dd")
SEEDS: tuple[bytes, ...] = (
    b"\0" + _ROW * 3,
    b"\0" + b'{"candidate": "\\ud800", "reference": null}\n[1]\n{}\n',
    b"\1candidate\treference\tid\na b\ta c\t1\nx\ty\t2\n",
    b'\2candidate,reference\r\n"a, b",c\r\nx,"y\nz"\r\n',
    b"\3" + gzip.compress(_ROW * 3),
    b"\4" + _ZSTANDARD_FRAME,
    b"\5one\ntwo\n\xff\xffone\ntwo\n",
    b"\6" + _SIGNED,
    b"\6bleu|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
    b"\7bertscore:model=hashing,layer=3,weights=idf",
    b"\7bleu:tokenize=13a,max_ngram_order=4,smooth_value=0.1",
    b"\7" + _SIGNED,
    b"\7chrf:word_order=2,beta=1e3",
    b"\7bary:layers=1-3,weights=idf,special=drop",
    b"\7rouge:variant=l,stem=yes",
)


def run_target(given: bytes) -> None:
    """Run the target that the first byte chooses on the rest; only NlgaugeError is allowed."""
    if not given:
        return
    try:
        TARGETS[given[0] % len(TARGETS)](given[1:])
    except NlgaugeError as error:
        assert str(error), "an error without a message"


def mutate(seed: bytes, draw: random.Random) -> bytes:
    """Return the seed with some bytes changed, repeated, inserted or deleted; its target stays."""
    body = bytearray(seed[1:])
    for _ in range(draw.choice((1, 1, 2, 3, 5, 20))):
        place = draw.randrange(len(body) + 1)
        length = draw.choice((1, 1, 2, 4, 16, 200))
        change = draw.randrange(6)
        if change == 0:
            body[place : place + 1] = bytes([draw.randrange(256)])
        elif change == 1:
            del body[place : place + length]
        elif change == 2:
            body[place:place] = body[place : place + length] * draw.choice((1, 2, 50))
        elif change == 3:
            body[place:place] = draw.choice(_FRAGMENTS)
        elif change == 4:
            body[place:place] = draw.randbytes(length)
        elif body:
            body[draw.randrange(len(body))] ^= 1 << draw.randrange(8)
    return seed[:1] + bytes(body)


_FRAGMENTS = (
    *(mark.encode("utf-8") for mark in '\0\r\n\t",:|=%{}[]\\ \ufeff\u2028\x85é東'),
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\\ud800", b"%0A", b"none", b"nan", b"inf", b"-1"),
    *(b"1e400", b"9" * 5000, b"[" * 2000, b'"', b"null", b"true", b"--", b"yes", b"\x1f\x8b"),
)


def _record(given: bytes) -> None:
    REGRESSION_INPUTS.mkdir(exist_ok=True)
    path = REGRESSION_INPUTS / hashlib.sha256(given).hexdigest()[:12]
    path.write_bytes(given)
    print(f"target {given[0] % len(TARGETS)} failed; the input is in {path}", file=sys.stderr)


def _run_with_time_limit(given: bytes) -> None:
    def too_long(_: int, __: FrameType | None) -> None:
        raise TimeoutError(f"no answer within {_SECONDS} seconds")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(_SECONDS)
    try:
        run_target(given)
    except BaseException:
        _record(given)
        raise
    finally:
        signal.alarm(0)


def _fuzz_without_coverage(runs: int, seed: int) -> int:
    draw = random.Random(seed)
    broken: set[Any] = set()
    for number in range(1, runs + 1):
        try:
            _run_with_time_limit(mutate(draw.choice(SEEDS), draw))
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            if (key := (type(error), last.filename, last.lineno)) not in broken:
                broken.add(key)
                traceback.print_exc()
        if number % 10_000 == 0:
            print(f"{number:,} inputs, {len(broken)} distinct failures", flush=True)
    return len(broken)


def main() -> None:
    """Run the given number of inputs."""
    # The list of metrics is rebuilt for every spec, which takes longer than everything else.
    nlgauge.metrics._sources = lru_cache(nlgauge.metrics._sources)
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true")
    options = parser.parse_args()
    if atheris is None or options.plain:
        sys.exit(min(_fuzz_without_coverage(options.runs, options.seed), 1))
    corpus = _folder / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(SEEDS):
        (corpus / str(number)).write_bytes(seed)
    limits = [f"-runs={options.runs}", f"-seed={options.seed + 1}", "-max_len=4096"]
    atheris.Setup([sys.argv[0], *limits, "-timeout=30", str(corpus)], _run_with_time_limit)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
