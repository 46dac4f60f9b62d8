"""Indexes and collections in this process."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from ctypes import byref
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import _native
from ._arrays import Array, Hits, empty, filled
from ._native import Token

#: Weights of the terms of a query, as a model of learned sparse retrieval gives them.
Weights = Mapping[str, float]
#: A batch: texts in heddle's query language, or weights of terms.
Batch = Union[Sequence[str], Sequence[Weights]]
#: Variant, k1 and b of BM25.
Scoring = Tuple[str, float, float]

_MATCH = {"or": 0, "and": 1, "and-or": 2}


class Engine(_native.Handle):
    """The processors of the machine. One engine serves all indexes, tables and threads of a process.

    config is a TOML file of heddle's configuration; settings precede it: {"devices.backend": "host"} uses pure Go alone.
    """

    def __init__(self, config: Optional[str] = None, settings: Optional[Mapping[str, object]] = None) -> None:
        lines = "".join(f"{key}={value}\n" for key, value in (settings or {}).items())
        super().__init__(_native.opened("engine_open", _native.encoded(config), _native.encoded(lines)))

    _shared: Optional["Engine"] = None
    _lock = threading.Lock()

    @classmethod
    def shared(cls) -> "Engine":
        """Returns the engine of the calls that name none: it is opened once, with the defaults."""
        with cls._lock:
            if cls._shared is None or not cls._shared._finalizer.alive:
                cls._shared = cls()
            return cls._shared


def queries_of(batch: Batch) -> Tuple[_native.Queries, List[Any]]:
    """Returns a batch for C, and the memory that it needs while it is in use."""
    if isinstance(batch, (str, Mapping)):
        raise TypeError("a batch is a list of queries: [query] for one")
    queries, all = _native.Queries(), list(batch)  # a column of pandas is no Sequence
    if all and isinstance(all[0], Mapping):
        flat: List[str] = []
        weights: List[float] = []
        first = [0]
        for query in all:
            if not isinstance(query, Mapping):
                raise TypeError("a batch has texts or weights, not both")
            flat.extend(query.keys())
            weights.extend(query.values())
            first.append(len(flat))
        terms, _ = _native.texts(flat)
        keep: List[Any] = [terms, filled("d", weights), filled("Q", first)]
        queries.count, queries.terms = len(all), terms
        queries.weights, queries.first = _native.address(keep[1]), _native.address(keep[2])
        return queries, keep
    texts, queries.count = _native.texts(all)  # type: ignore[arg-type]
    queries.texts = texts
    return queries, [texts]


class _Searchable(_native.Handle):
    def _ask(
        self, batch: Batch, k: int, match: str, literal: bool, where: Optional[str], table: Optional[_native.Handle],
        scoring: Optional[Scoring],
    ) -> Tuple[_native.Queries, List[Any]]:
        queries, keep = queries_of(batch)
        if match not in _MATCH:
            raise ValueError(f"match {match!r} is none of {', '.join(_MATCH)}")
        queries.k, queries.match, queries.literal = k, _MATCH[match], literal
        queries.where, queries.table = _native.encoded(where), table._handle if table else 0
        if scoring:
            queries.variant, queries.k1, queries.b = _native.encoded(scoring[0]), scoring[1], scoring[2]
        return queries, keep

    def _rank(self, handle: int, queries: _native.Queries, limits: Optional[_native.Control], names: bool) -> Hits:
        n, k = queries.count, queries.k
        docs, scores, counts = empty("I", n, k), empty("d", n, k), empty("Q", n)
        memory = _native.HitsMemory(_native.address(docs), _native.address(scores), n * k, None, _native.address(counts), None)
        _native.call("search", handle, byref(queries), byref(memory), limits)
        return Hits(docs, scores, counts, _native.names(handle, docs, counts, k) if names else None)

    def search(
        self, queries: Batch, k: int = 10, *, match: str = "or", literal: bool = False, where: Optional[str] = None,
        table: Optional[_native.Handle] = None, scoring: Optional[Scoring] = None, names: bool = False,
        timeout: Optional[float] = None, token: Optional[Token] = None,
    ) -> Hits:
        """Returns the best k documents of each query with their scores.

        queries   texts, such as "heaven^2 earth", or weights of terms: [{"heaven": 2.0, "earth": 1.0}]
        match     "or", "and" or "and-or" joins the words of a text
        literal   texts are words alone, without operators
        where     a predicate on attributes that documents must satisfy; table is the attribute table of an index
        scoring   variant, k1 and b of BM25; ("lucene", 0.9, 0.4) by default
        names     also look up the names of the documents
        timeout   seconds; a token ends the call from another thread
        """
        if not 1 <= k < 1 << 32:
            raise ValueError(f"k is {k}, not from 1 on: match() returns all documents")
        asked, keep = self._ask(queries, k, match, literal, where, table, scoring)
        with self._state(names) as handle:
            hits = self._rank(handle, asked, _native.control(timeout, token), names)
        del keep
        return hits

    def count(
        self, queries: Batch, *, match: str = "or", literal: bool = False, where: Optional[str] = None,
        table: Optional[_native.Handle] = None, timeout: Optional[float] = None, token: Optional[Token] = None,
    ) -> Array:
        """Returns the number of documents that match each query."""
        asked, keep = self._ask(queries, 0, match, literal, where, table, None)
        counts = empty("Q", asked.count)
        memory = _native.HitsMemory(None, None, 0, None, _native.address(counts), None)
        _native.call("search", self._handle, byref(asked), byref(memory), _native.control(timeout, token))
        del keep
        return counts

    def match(
        self, queries: Batch, *, match: str = "or", literal: bool = False, where: Optional[str] = None,
        table: Optional[_native.Handle] = None, timeout: Optional[float] = None, token: Optional[Token] = None,
    ) -> List[Array]:
        """Returns all documents that match each query, by ascending docID. It counts them first."""
        asked, keep = self._ask(queries, 0, match, literal, where, table, None)
        limits = _native.control(timeout, token)
        counts = empty("Q", asked.count)
        with self._state(True) as handle:
            memory = _native.HitsMemory(None, None, 0, None, _native.address(counts), None)
            _native.call("search", handle, byref(asked), byref(memory), limits)
            ends = [0]
            for n in counts.tolist():
                ends.append(ends[-1] + n)
            docs, offsets = empty("I", ends[-1]), filled("Q", ends)
            memory = _native.HitsMemory(_native.address(docs), None, ends[-1], _native.address(offsets), _native.address(counts), None)
            _native.call("search", handle, byref(asked), byref(memory), limits)
        del keep
        return [docs[a:b] for a, b in zip(ends, ends[1:])]

    @contextmanager
    def _state(self, pinned: bool) -> Iterator[int]:
        """Gives the handle that a search uses: a snapshot if several calls need the same content."""
        if not pinned:
            yield self._handle
            return
        handle = _native.opened("snapshot_open", self._handle)
        try:
            yield handle
        finally:
            _native.call("close", handle)


class Index(_Searchable):
    """An index file. It is safe for use by several threads; searches run without Python's lock."""

    def __init__(self, path: str, engine: Optional[Engine] = None) -> None:
        self.engine = engine or Engine.shared()
        super().__init__(_native.opened("index_open", self.engine._handle, _native.encoded(path)))

    def names(self, docs: Sequence[int]) -> List[str]:
        """Returns the names of documents."""
        return _native.names(self._handle, filled("I", docs), [len(docs)], len(docs))[0]


class Collection(_Searchable):
    """Documents in a folder that change. create makes the collection: {} or settings such as
    {"stem": "english", "store": "source", "positions": True, "fields": ["title", "body"],
    "attributes": [{"name": "year", "type": "int"}]}.

    DocIDs hold until the next change; names stay.
    """

    def __init__(self, path: str, create: Optional[Mapping[str, object]] = None, engine: Optional[Engine] = None) -> None:
        self.engine = engine or Engine.shared()
        settings = None if create is None else _native.encoded(json.dumps(create))
        super().__init__(_native.opened("collection_open", self.engine._handle, _native.encoded(path), settings))

    def add(self, documents: Iterable[Mapping[str, object]]) -> Dict[str, int]:
        """Adds documents, {"id": …, "text": …, …}, or replaces documents of the same names: all or none."""
        return self._change("collection_add", documents)

    def update(self, documents: Iterable[Mapping[str, object]]) -> Dict[str, int]:
        """Changes members of documents, whose sources the collection stores."""
        return self._change("collection_update", documents)

    def _change(self, function: str, documents: Iterable[Mapping[str, object]]) -> Dict[str, int]:
        lines = "".join(json.dumps(d) + "\n" for d in documents).encode()
        change = _native.Change()
        _native.call(function, self._handle, lines, len(lines), byref(change), None)
        return _changed(change)

    def delete(self, names: Iterable[str]) -> Dict[str, int]:
        """Deletes documents by their names."""
        texts, n = _native.texts(names)
        change = _native.Change()
        _native.call("collection_delete", self._handle, texts, n, byref(change), None)
        return _changed(change)

    def merge(self) -> None:
        """Joins all segments to one without deleted documents."""
        _native.call("collection_merge", self._handle, None, None)

    def refresh(self) -> None:
        """Takes up the changes of another process."""
        _native.call("collection_refresh", self._handle, None, None)


def _changed(change: _native.Change) -> Dict[str, int]:
    return {name: int(getattr(change, name)) for name, _ in _native.Change._fields_[1:]}


def build_index(path: str, inputs: Sequence[str], timeout: Optional[float] = None, **settings: object) -> Dict[str, Any]:
    """Builds an index file from files of documents, and returns its numbers.

    settings: format ("text", "jsonl", "trec", "warc", "pisa", "ciff"), text, fields, id, fold, stem, stop_words, store
    ("text", "source"), positions (True for phrases), impacts (8 or 16 bits: BM25 or weights of vectors become integers),
    memory (bytes).
    """
    files, n = _native.texts(inputs)
    summary = _native.Bytes()
    options = _native.encoded(json.dumps(settings))
    _native.call("index_build", _native.encoded(path), files, n, options, byref(summary), _native.control(timeout, None))
    made: Dict[str, Any] = json.loads(_native.taken(summary))
    return made
