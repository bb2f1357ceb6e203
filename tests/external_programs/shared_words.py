"""A program for the metric `external`: the share of words in common, of the best reference."""

import json
import sys


def main() -> None:
    print(json.dumps({"name": "shared words", "version": "1.0"}), flush=True)
    rows = []
    for line in sys.stdin:
        if line.strip():
            rows.append(json.loads(line))
            continue
        for row in rows:
            left = set(row["candidate"].split())
            rights = [set(text.split()) for text in row["references"]]
            score = max(len(left & right) / (len(left | right) or 1) for right in rights)
            print(json.dumps({"score": score}))
        sys.stdout.flush()
        rows = []


main()
