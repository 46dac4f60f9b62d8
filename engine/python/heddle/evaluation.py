"""Topics, runs and relevance judgements."""

from __future__ import annotations

import json
import os
from ctypes import byref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native

#: The documents of each query with their scores.
Run = Mapping[str, Mapping[str, float]]
#: The relevance of the judged documents of each query.
Qrels = Mapping[str, Mapping[str, int]]


@dataclass
class Evaluation:
    """Measures by their names in trec_eval: means over the queries, and of each query."""

    all: Dict[str, Any]
    queries: Dict[str, Dict[str, Any]] = field(default_factory=dict)
    missing: List[str] = field(default_factory=list)  # queries with judgements alone
    unjudged: List[str] = field(default_factory=list)  # queries with results alone

    def __getitem__(self, measure: str) -> Any:
        return self.all[measure]


def evaluate(
    run: Union[str, "os.PathLike[str]", Run], qrels: Union[str, "os.PathLike[str]", Qrels],
    measures: Optional[Sequence[str]] = None, *, cutoffs: Optional[Sequence[int]] = None, level: int = 1, complete: bool = False,
) -> Evaluation:
    """Computes the measures of trec_eval, as heddle eval does.

    run and qrels are files or dicts. measures are names of trec_eval ("map", "P.5,10") or of ir-measures ("nDCG@10").
    cutoffs are the ranks of P, recall and ndcg_cut, level is the least relevance of a relevant document, complete
    averages over all queries of qrels.
    """
    runs = _content(run, lambda q, d, score: f"{q} Q0 {d} 0 {score!r} heddle\n", float)
    judged = _content(qrels, lambda q, d, relevance: f"{q} 0 {d} {relevance}\n", int)
    settings: Dict[str, Any] = {"level": level, "complete": complete}
    if measures is not None:
        settings["measures"] = list(measures)
    if cutoffs is not None:
        settings["cutoffs"] = sorted(set(cutoffs))
    report = _native.Bytes()
    _native.call("evaluate", runs, len(runs), judged, len(judged), json.dumps(settings).encode(), byref(report))
    return Evaluation(**json.loads(_native.taken(report)))


def _content(of: Any, line: Any, kind: Any) -> bytes:
    if not isinstance(of, Mapping):
        return Path(of).read_bytes()
    lines = []
    for query, docs in of.items():
        for doc, value in docs.items():
            if len(f"{query} {doc}".split()) != 2:
                raise ValueError(f"white space in a name, or an empty name: query {query!r}, document {doc!r}")
            lines.append(line(query, doc, kind(value)))
    return "".join(lines).encode()


def read_topics(path: str, format: str = "auto") -> Dict[str, Any]:
    """Reads a file of topics: a text for each ID, or the weights of terms.

    format: "tsv", "trec", "jsonl", "car", "plain", or "auto" by the content.
    """
    file, topics = Path(path).read_bytes(), _native.Bytes()
    _native.call("topics", file, len(file), _native.encoded(format), byref(topics))
    return {
        t["id"]: dict(zip(t["terms"], t["weights"])) if "terms" in t else t.get("text", "")
        for t in json.loads(_native.taken(topics))
    }


def write_run(path: str, run: Mapping[str, Iterable[Tuple[str, float]]], tag: str = "heddle") -> None:
    """Writes the documents of each query, the best first, as a run file of TREC."""
    with open(path, "w", encoding="utf-8") as f:
        for query, ranking in run.items():
            for rank, (doc, score) in enumerate(ranking, 1):
                f.write(f"{_name(query)} Q0 {_name(doc)} {rank} {score!r} {tag}\n")


def _name(name: str) -> str:
    return "_".join(name.split()) or "_"
