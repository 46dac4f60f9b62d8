"""Tables in this process."""

from __future__ import annotations

import json
from ctypes import byref, c_uint64
from typing import Any, Dict, List, Optional, Sequence

from . import _native
from ._arrays import Array, empty
from ._errors import Error
from ._native import Token
from .index import Engine


class Values:
    """The answer of a selection as an Arrow stream. ipc has its bytes, which are not copied."""

    def __init__(self, ipc: memoryview) -> None:
        self.ipc = ipc

    def to_arrow(self) -> Any:
        """Returns a pyarrow.Table on the same memory. It needs pyarrow."""
        import pyarrow  # type: ignore[import]

        return pyarrow.ipc.open_stream(pyarrow.py_buffer(self.ipc)).read_all()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The Arrow PyCapsule interface, for polars, pandas, DuckDB and others. It needs pyarrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)


class Table(_native.Handle):
    """A table file, or a folder of tables with equal columns. It is safe for use by several threads."""

    def __init__(self, path: str, engine: Optional[Engine] = None) -> None:
        self.engine = engine or Engine.shared()
        super().__init__(_native.opened("table_open", self.engine._handle, _native.encoded(path)))

    def count(self, where: Sequence[str], timeout: Optional[float] = None, token: Optional[Token] = None) -> Array:
        """Returns the number of rows that satisfy each predicate."""
        if isinstance(where, str):
            raise TypeError("where is a list of predicates: [predicate] for one")
        texts, n = _native.texts(where)
        counts = empty("Q", n)
        _native.call("table_count", self._handle, texts, n, _native.address(counts), _native.control(timeout, token))
        return counts

    def rows(self, where: str, timeout: Optional[float] = None, token: Optional[Token] = None) -> Array:
        """Returns the numbers of the rows that satisfy a predicate, ascending."""
        room = int(self.count([where], timeout, token)[0])
        limits, count = _native.control(timeout, token), c_uint64()
        while True:
            rows = empty("I", room)
            try:
                _native.call("table_rows", self._handle, _native.encoded(where), _native.address(rows), room, byref(count), limits)
                return rows[: count.value]
            except Error as e:
                if e.code != "short_buffer":
                    raise
                room = count.value

    def select(
        self, select: str = "*", where: str = "", *, group_by: str = "", order_by: str = "", offset: int = 0,
        limit: Optional[int] = None, timeout: Optional[float] = None, token: Optional[Token] = None,
    ) -> Values:
        """Returns columns of the selected rows, or aggregates of their groups: select("city, sum(amount)", group_by="city")."""
        return Values(_native.view(self._values("arrow", select, where, group_by, order_by, offset, limit, timeout, token)))

    def records(
        self, select: str = "*", where: str = "", *, group_by: str = "", order_by: str = "", offset: int = 0,
        limit: Optional[int] = None, timeout: Optional[float] = None, token: Optional[Token] = None,
    ) -> List[Dict[str, Any]]:
        """Returns the answer of select as a dict for each row."""
        lines = _native.taken(self._values("json", select, where, group_by, order_by, offset, limit, timeout, token))
        return [json.loads(line) for line in lines.splitlines()]

    def _values(
        self, form: str, select: str, where: str, group_by: str, order_by: str, offset: int, limit: Optional[int],
        timeout: Optional[float], token: Optional[Token],
    ) -> _native.Bytes:
        if limit is not None and not 1 <= limit < 1 << 64:
            raise ValueError(f"limit is {limit}, not from 1 to 2**64 - 1")
        if not 0 <= offset < 1 << 64:
            raise ValueError(f"offset is {offset}, not from 0 to 2**64 - 1")
        asked = _native.Aggregation(
            _native.encoded(select), _native.encoded(where), _native.encoded(group_by), _native.encoded(order_by), offset,
            limit or 0, _native.encoded(form),
        )
        answer = _native.Bytes()
        _native.call("table_values", self._handle, byref(asked), byref(answer), _native.control(timeout, token))
        return answer


def build_table(path: str, inputs: Sequence[str], timeout: Optional[float] = None) -> int:
    """Builds a table file from CSV files, and returns the number of rows."""
    files, n = _native.texts(inputs)
    rows = c_uint64()
    _native.call("table_build", _native.encoded(path), files, n, byref(rows), _native.control(timeout, None))
    return rows.value
