"""A client of heddle serve, with the methods of the engine in process. It needs the standard library alone."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from array import array
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence
from urllib.parse import quote

from ._arrays import NO_DOCUMENT, Array, Hits, empty, filled
from ._errors import Error
from .index import Batch, Scoring
from .table import Values


class Client:
    """A server at a URL such as "http://localhost:7700". admin is the URL of administration, for changes of collections.

    It is safe for use by several threads: each call is a request of its own.
    """

    def __init__(self, url: str, token: Optional[str] = None, admin: Optional[str] = None, timeout: float = 60) -> None:
        self.url, self.admin, self.timeout = url.rstrip("/"), (admin or url).rstrip("/"), timeout
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def index(self, name: str) -> "RemoteIndex":
        """Returns the index, or collection, of that name."""
        return RemoteIndex(self, name)

    collection = index

    def table(self, name: str) -> "RemoteTable":
        """Returns the table of that name."""
        return RemoteTable(self, name)

    def _send(
        self, path: str, body: Any, accept: str = "application/json", timeout: Optional[float] = None, admin: bool = False,
        content: str = "application/json",
    ) -> bytes:
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Accept": accept, "Content-Type": content, **self._headers}
        request = urllib.request.Request((self.admin if admin else self.url) + path, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout or self.timeout) as reply:
                answer: bytes = reply.read()
                return answer
        except urllib.error.HTTPError as e:
            text = e.read().decode(errors="replace")
            try:
                problem = json.loads(text)
            except ValueError:
                problem = {}
            raise Error(problem.get("code", "internal"), problem.get("detail") or f"{e.code} {e.reason}: {text[:200]}") from None
        except TimeoutError as e:
            raise Error("deadline", f"{self.url}: {e}") from None
        except (OSError, http.client.HTTPException) as e:
            raise Error("unavailable", f"{self.url}: {e}") from None


class _Remote:
    _kind: str

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name
        self._path = f"/v1/{self._kind}/{quote(name, safe='')}"

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Does nothing: there is no connection between calls."""

    @property
    def info(self) -> Dict[str, Any]:
        """The description of the server."""
        described: Dict[str, Any] = json.loads(self.client._send(self._path, None))
        return described


class RemoteIndex(_Remote):
    """An index or collection of a server. Methods and answers are those of heddle.Index and heddle.Collection."""

    _kind = "indexes"

    def _lines(self, queries: Batch, common: Dict[str, Any], where: Optional[str], table: Optional[str], timeout: Optional[float]) -> List[Any]:
        if isinstance(queries, (str, Mapping)):
            raise TypeError("a batch is a list of queries: [query] for one")
        if where is not None:
            common["filter"] = {"where": where, **({"table": table} if table else {})}
        lines = []
        for query in queries:
            asked: Dict[str, Any] = {"query": query} if isinstance(query, str) else {"terms": list(query), "weights": list(query.values())}
            lines.append(json.dumps({**asked, **common}))
        if not lines:
            return []
        path = self._path + "/search/batch" + (f"?timeout_ms={max(1, int(timeout * 1000))}" if timeout else "")
        reply = self.client._send(path, "\n".join(lines).encode(), "application/x-ndjson", timeout and timeout + 1, content="application/x-ndjson")
        answers = [json.loads(line) for line in reply.splitlines()]
        for i, answer in enumerate(answers):
            if "error" in answer:
                raise Error(answer["error"].get("code", "internal"), f"query {i}: {answer['error'].get('message')}")
        return answers

    def search(
        self, queries: Batch, k: int = 10, *, match: str = "or", literal: bool = False, where: Optional[str] = None,
        table: Optional[str] = None, scoring: Optional[Scoring] = None, names: bool = False, timeout: Optional[float] = None,
    ) -> Hits:
        """Returns the best k documents of each query: see heddle.Index.search. table is the name of a table of the server."""
        common: Dict[str, Any] = {"k": k, "mode": match, "literal": literal}
        if scoring:
            common["scoring"] = dict(zip(("variant", "k1", "b"), scoring))
        answers = [a.get("hits", []) for a in self._lines(queries, common, where, table, timeout)]
        rows = [[h["id"] for h in hits] + [NO_DOCUMENT] * (k - len(hits)) for hits in answers]
        scores = [[h["score"] for h in hits] + [float("-inf")] * (k - len(hits)) for hits in answers]
        return Hits(
            _matrix("I", rows, k), _matrix("d", scores, k), filled("Q", [len(hits) for hits in answers]),
            [[h["doc"] for h in hits] for hits in answers] if names else None,
        )

    def count(
        self, queries: Batch, *, match: str = "or", literal: bool = False, where: Optional[str] = None,
        table: Optional[str] = None, timeout: Optional[float] = None,
    ) -> Array:
        """Returns the number of documents that match each query."""
        common = {"count": True, "mode": match, "literal": literal}
        return filled("Q", [a["count"] for a in self._lines(queries, common, where, table, timeout)])

    def match(
        self, queries: Batch, *, match: str = "or", literal: bool = False, where: Optional[str] = None,
        table: Optional[str] = None, timeout: Optional[float] = None,
    ) -> List[Array]:
        """Returns all documents that match each query, by ascending docID: a request for each query."""
        counts = self.count(queries, match=match, literal=literal, where=where, table=table, timeout=timeout)
        found = []
        for query, count in zip(queries, counts):
            body: Dict[str, Any] = {"mode": match, "literal": literal, "limit": int(count)}
            if isinstance(query, str):
                body["query"] = query
            else:
                body["terms"] = list(query)
            if where is not None:
                body["filter"] = {"where": where, **({"table": table} if table else {})}
            reply = json.loads(self.client._send(self._path + "/match", body, timeout=timeout))
            found.append(filled("I", [d["id"] for d in reply["documents"]]))
        return found

    def _change(self, action: str, body: Any, content: str = "application/json") -> Dict[str, int]:
        reply = self.client._send(f"/v1/admin/indexes/{quote(self.name, safe='')}/{action}", body, admin=True, content=content)
        change: Dict[str, int] = json.loads(reply)
        return change

    def add(self, documents: Iterable[Mapping[str, object]]) -> Dict[str, int]:
        """Adds documents to a collection: see heddle.Collection.add."""
        lines = "".join(json.dumps(d) + "\n" for d in documents).encode()
        return self._change("documents", lines, "application/x-ndjson")

    def update(self, documents: Iterable[Mapping[str, object]]) -> Dict[str, int]:
        """Changes members of documents of a collection."""
        lines = "".join(json.dumps(d) + "\n" for d in documents).encode()
        return self._change("documents/update", lines, "application/x-ndjson")

    def delete(self, names: Iterable[str]) -> Dict[str, int]:
        """Deletes documents of a collection by their names."""
        return self._change("documents/delete", {"names": list(names)})

    def merge(self) -> None:
        """Joins all segments of a collection."""
        self._change("merge", {})


def _matrix(code: str, rows: List[List[Any]], k: int) -> Array:
    matrix = empty(code, len(rows), k)
    for i, values in enumerate(rows):
        for j, value in enumerate(values):
            matrix[i, j] = value
    return matrix


class RemoteTable(_Remote):
    """A table of a server. Methods and answers are those of heddle.Table."""

    _kind = "tables"

    def count(self, where: Sequence[str], timeout: Optional[float] = None) -> Array:
        """Returns the number of rows that satisfy each predicate: a request for each."""
        if isinstance(where, str):
            raise TypeError("where is a list of predicates: [predicate] for one")
        replies = [self.client._send(self._path + "/count", {"where": w}, timeout=timeout) for w in where]
        return filled("Q", [json.loads(reply)["count"] for reply in replies])

    def rows(self, where: str, timeout: Optional[float] = None) -> Array:
        """Returns the numbers of the rows that satisfy a predicate, ascending."""
        return filled("I", array("I", self.client._send(self._path + "/select", {"where": where}, "application/octet-stream", timeout)))

    def select(
        self, select: str = "*", where: str = "", *, group_by: str = "", order_by: str = "", offset: int = 0,
        limit: Optional[int] = None, timeout: Optional[float] = None,
    ) -> Values:
        """Returns columns of the selected rows, or aggregates of their groups."""
        form = "application/vnd.apache.arrow.stream"
        return Values(memoryview(self._values(form, select, where, group_by, order_by, offset, limit, timeout)))

    def records(
        self, select: str = "*", where: str = "", *, group_by: str = "", order_by: str = "", offset: int = 0,
        limit: Optional[int] = None, timeout: Optional[float] = None,
    ) -> List[Dict[str, Any]]:
        """Returns the answer of select as a dict for each row."""
        form = "application/x-ndjson"
        lines = self._values(form, select, where, group_by, order_by, offset, limit, timeout)
        return [json.loads(line) for line in lines.splitlines()]

    def _values(
        self, form: str, select: str, where: str, group_by: str, order_by: str, offset: int, limit: Optional[int],
        timeout: Optional[float],
    ) -> bytes:
        asked = {"select": select, "where": where, "group_by": group_by, "order_by": order_by, "offset": offset}
        body = {name: value for name, value in asked.items() if value}
        if limit is not None:
            if limit < 1:
                raise ValueError("limit is less than 1")
            body["limit"] = limit
        return self.client._send(self._path + "/aggregate", body, form, timeout)
