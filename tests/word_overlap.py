"""A program for the metric `external`: the overlap of the candidate's words with other texts.

``word_overlap.py references`` gives the Jaccard index with the best reference,
``word_overlap.py source`` the share of the words of the source that the candidate has.
"""

import json
import sys


def main() -> None:
    side = sys.argv[1]
    score = {"references": _with_references, "source": _with_source}[side]
    print(json.dumps({"name": f"words of {side}", "version": "1.0"}), flush=True)
    rows = []
    for line in sys.stdin:
        if line.strip():
            rows.append(json.loads(line))
            continue
        for row in rows:
            print(json.dumps({"score": score(row)}))
        sys.stdout.flush()
        rows = []


def _with_references(row: dict) -> float:
    left = set(row["candidate"].split())
    rights = [set(text.split()) for text in row["references"]]
    return max(len(left & right) / (len(left | right) or 1) for right in rights)


def _with_source(row: dict) -> float:
    source = set(row.get("source", "").split())
    return len(source & set(row["candidate"].split())) / (len(source) or 1)


if __name__ == "__main__":
    main()
