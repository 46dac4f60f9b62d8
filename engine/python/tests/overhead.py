"""Measures a call of search: CPU time of the whole process per query, in batches of 1,000, at k = 10.

The index has ten short documents with all words of the queries, so each answer is full, and the engine has next to
nothing to do: the time is an upper bound of the overhead of Python, of the C interface and of batches.
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import heddle

WORDS = "faith hope charity heaven earth sea light water fire stone".split()


def main(batches: int = 200) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "ten.tsv"
        text.write_text("".join(f"d{i}\t{' '.join(WORDS)}\n" for i in range(10)))
        heddle.build_index(f"{folder}/ten.hdl", [str(text)], format="text")
        texts = [f"{WORDS[i % 10]} {WORDS[i // 10 % 10]}" for i in range(1000)]
        weights = [{WORDS[i % 10]: 1.5, WORDS[(i + 1 + i // 10 % 9) % 10]: 2.0} for i in range(1000)]
        with heddle.Engine(settings={"devices.backend": "host"}) as engine, heddle.Index(f"{folder}/ten.hdl", engine) as index:
            for name, queries, options in (("texts", texts, {}), ("weights", weights, {}), ("texts, with names", texts, {"names": True})):
                took = []
                for _ in range(batches):
                    before = time.process_time_ns()
                    hits = index.search(queries, k=10, **options)
                    took.append((time.process_time_ns() - before) / 1e6)
                    assert int(hits.counts.sum()) == 10_000
                took.sort()
                print(f"{name:20} least {took[0]:.2f}, median {statistics.median(took):.2f}, 90 % {took[batches * 9 // 10]:.2f} µs a query")


main(*map(int, sys.argv[1:]))
