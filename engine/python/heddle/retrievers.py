"""Retrievers with the methods that users of PyTerrier and of Pyserini know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

try:
    from pyterrier import Transformer as _Base  # type: ignore[import]
except ImportError:  # PyTerrier is optional
    _Base = object


class Retriever(_Base):  # type: ignore[misc]
    """Topics in, results out, as a transformer of PyTerrier: retriever(topics), or in a pipeline (retriever >> other).

    source is an Index, a Collection, or an index of a Client; options go to its search. Queries are words without
    operators, unless literal=False is given. Topics are a DataFrame of pandas with the columns qid and query (or
    query_toks, weights of terms), and results a DataFrame with docid, docno, rank and score too (ranks begin at 0, as in
    PyTerrier). Topics as a list of dicts give a list of dicts, and need no pandas.
    """

    def __init__(self, source: Any, k: int = 1000, **options: Any) -> None:
        super().__init__()
        self.source, self.k, self.options = source, k, {"literal": True, **options}

    def transform(self, topics: Any) -> Any:
        """Returns the best k documents of each topic."""
        if not hasattr(topics, "to_dict"):
            return self._results(list(topics))
        import pandas  # type: ignore[import]

        columns = [*topics.columns, *(c for c in ("docid", "docno", "rank", "score") if c not in topics.columns)]
        return pandas.DataFrame(self._results(topics.to_dict("records")), columns=columns)

    __call__ = transform

    def search(self, query: Union[str, Mapping[str, float]]) -> Any:
        """Returns the results of one query."""
        column = "query" if isinstance(query, str) else "query_toks"
        return self.transform([{"qid": "1", column: query}])

    def run(self, topics: Mapping[str, Any]) -> Dict[str, List[Tuple[str, float]]]:
        """Returns the names and scores of the best documents of each topic, for write_run and evaluate."""
        hits = self.source.search(list(topics.values()), k=self.k, names=True, **self.options)
        return {qid: list(hits.ranking(i)) for i, qid in enumerate(topics)}

    def _results(self, topics: List[Dict[str, Any]]) -> List[Dict[str, Any]]:
        asked = [t["query_toks"] if t.get("query_toks") else t["query"] for t in topics]
        hits = self.source.search(asked, k=self.k, names=True, **self.options)
        return [
            {**topic, "docid": int(doc), "docno": name, "rank": rank, "score": float(score)}
            for i, topic in enumerate(topics)
            for rank, (doc, score, name) in enumerate(zip(*hits[i], hits.names[i]))
        ]


@dataclass
class Hit:
    """A document of an answer, with the members that Pyserini's hits have."""

    docid: str
    score: float
    lucene_docid: int


class Searcher:
    """The methods of Pyserini's LuceneSearcher and LuceneImpactSearcher: search and batch_search."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self._scoring: Optional[Tuple[str, float, float]] = None

    def set_bm25(self, k1: float = 0.9, b: float = 0.4) -> None:
        """Sets the parameters of BM25."""
        self._scoring = ("lucene", k1, b)

    def search(self, q: Union[str, Mapping[str, float]], k: int = 10) -> List[Hit]:
        """Returns the best k documents of a query."""
        return self.batch_search([q], ["1"], k)["1"]

    def batch_search(self, queries: Sequence[Any], qids: Iterable[str], k: int = 10, threads: int = 1) -> Dict[str, List[Hit]]:
        """Returns the best k documents of each query. The engine uses all cores: threads has no effect."""
        hits = self.source.search(list(queries), k=k, names=True, literal=True, scoring=self._scoring)
        return {
            qid: [Hit(name, float(score), int(doc)) for doc, score, name in zip(*hits[i], hits.names[i])]
            for i, qid in enumerate(qids)
        }
