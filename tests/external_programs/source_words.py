"""A program for the metric `external`: the share of the source's words that the candidate keeps."""

import json
import sys


def main() -> None:
    print(json.dumps({"name": "source words", "version": "1.0"}), flush=True)
    rows = []
    for line in sys.stdin:
        if line.strip():
            rows.append(json.loads(line))
            continue
        for row in rows:
            source = row.get("source", "").split()
            kept = set(row["candidate"].split()) & set(source)
            print(json.dumps({"score": len(kept) / (len(set(source)) or 1)}))
        sys.stdout.flush()
        rows = []


main()
