"""The C library (engine/capi) by ctypes. The other modules call it through this one."""

from __future__ import annotations

import ctypes
import functools
import os
import weakref
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int32, c_int64, c_uint8, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Dict, Iterable, List, Optional, Sequence, Tuple

from ._arrays import empty
from ._errors import Error

ABI_VERSION = 1


class Fault(ctypes.Structure):
    _fields_ = [("code", c_int32), ("text", c_char * 1020)]


class Bytes(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_uint64)]


class Control(ctypes.Structure):
    _fields_ = [("timeout_ns", c_int64), ("token", c_uint64)]


class Queries(ctypes.Structure):
    _fields_ = [
        ("count", c_uint64), ("texts", POINTER(c_char_p)), ("terms", POINTER(c_char_p)), ("weights", c_void_p),
        ("first", c_void_p), ("k", c_uint32), ("match", c_int32), ("literal", c_int32), ("variant", c_char_p),
        ("k1", c_double), ("b", c_double), ("where", c_char_p), ("table", c_uint64),
    ]


class HitsMemory(ctypes.Structure):
    _fields_ = [
        ("docs", c_void_p), ("scores", c_void_p), ("room", c_uint64), ("offsets", c_void_p), ("counts", c_void_p),
        ("codes", c_void_p),
    ]


class Aggregation(ctypes.Structure):
    _fields_ = [
        ("select", c_char_p), ("where", c_char_p), ("group_by", c_char_p), ("order_by", c_char_p),
        ("offset", c_uint64), ("limit", c_uint64), ("format", c_char_p),
    ]


class Info(ctypes.Structure):
    _fields_ = [("documents", c_uint64), ("bound", c_uint64), ("state", c_uint64), ("segments", c_uint64)]


class Change(ctypes.Structure):
    _fields_ = [
        ("info", Info), ("added", c_uint64), ("replaced", c_uint64), ("deleted", c_uint64), ("missing", c_uint64),
    ]


_TEXTS = POINTER(c_char_p)
_HANDLE = POINTER(c_uint64)
_CONTROL = POINTER(Control)

# The parameters of the functions in heddle.h, without the last one, the error.
_FUNCTIONS: Dict[str, List[Any]] = {
    "engine_open": [c_char_p, c_char_p, _HANDLE],
    "index_open": [c_uint64, c_char_p, _HANDLE, _CONTROL],
    "table_open": [c_uint64, c_char_p, _HANDLE, _CONTROL],
    "collection_open": [c_uint64, c_char_p, c_char_p, _HANDLE, _CONTROL],
    "snapshot_open": [c_uint64, _HANDLE],
    "token_open": [_HANDLE],
    "cancel": [c_uint64],
    "close": [c_uint64],
    "info_of": [c_uint64, POINTER(Info)],
    "search": [c_uint64, POINTER(Queries), POINTER(HitsMemory), _CONTROL],
    "names": [c_uint64, c_void_p, c_uint64, c_void_p, POINTER(Bytes)],
    "table_count": [c_uint64, _TEXTS, c_uint64, c_void_p, _CONTROL],
    "table_rows": [c_uint64, c_char_p, c_void_p, c_uint64, _HANDLE, _CONTROL],
    "table_values": [c_uint64, POINTER(Aggregation), POINTER(Bytes), _CONTROL],
    "collection_add": [c_uint64, c_char_p, c_uint64, POINTER(Change), _CONTROL],
    "collection_update": [c_uint64, c_char_p, c_uint64, POINTER(Change), _CONTROL],
    "collection_delete": [c_uint64, _TEXTS, c_uint64, POINTER(Change), _CONTROL],
    "collection_merge": [c_uint64, POINTER(Info), _CONTROL],
    "collection_refresh": [c_uint64, POINTER(Info), _CONTROL],
    "index_build": [c_char_p, _TEXTS, c_uint64, c_char_p, POINTER(Bytes), _CONTROL],
    "table_build": [c_char_p, _TEXTS, c_uint64, _HANDLE, _CONTROL],
    "evaluate": [c_char_p, c_uint64, c_char_p, c_uint64, c_char_p, POINTER(Bytes)],
    "topics": [c_char_p, c_uint64, c_char_p, POINTER(Bytes)],
}


@functools.lru_cache(maxsize=None)
def _load() -> ctypes.CDLL:
    """Returns the library, which loads at its first use: a client of a server needs none."""
    path = os.environ.get("HEDDLE_LIBRARY") or str(Path(__file__).with_name("libheddle.so"))
    library = ctypes.CDLL(path)
    if (found := library.heddle_abi_version()) != ABI_VERSION:
        raise ImportError(f"{path} has version {found} of the interface, this package needs {ABI_VERSION}")
    for name, parameters in _FUNCTIONS.items():
        getattr(library, "heddle_" + name).argtypes = [*parameters, POINTER(Fault)]
    library.heddle_version.restype = library.heddle_code_name.restype = c_char_p
    library.heddle_free.argtypes, library.heddle_free.restype = [POINTER(Bytes)], None
    return library


_forked = False


def _after_fork() -> None:
    global _forked
    _forked = _load.cache_info().currsize > 0


os.register_at_fork(after_in_child=_after_fork)


def version() -> str:
    """Returns the version of the library, such as "0.1.0"."""
    return str(_load().heddle_version().decode())


def abi_version() -> int:
    """Returns the version of the C interface of the library."""
    return int(_load().heddle_abi_version())


def code_name(code: int) -> str:
    return (_load().heddle_code_name(code) or b"internal").decode()


def call(name: str, *args: Any) -> None:
    """Calls a function of the library, which runs without Python's lock, and raises its error."""
    if _forked:
        raise Error("closed", "the process was forked after heddle was loaded: use the start method spawn of multiprocessing")
    fault = Fault()
    if getattr(_load(), "heddle_" + name)(*args, byref(fault)) != 0:
        raise Error(code_name(fault.code), fault.text.decode(errors="replace"))


def encoded(text: Optional[str]) -> Optional[bytes]:
    """Returns a text for C. A text with a zero character, which C would cut, is an error."""
    if text is None:
        return None
    data = text.encode()
    if b"\0" in data:
        raise Error("invalid_argument", "a text has a zero character")
    return data


def texts(all: Iterable[str]) -> Tuple[Any, int]:
    """Returns an array of texts for C, and its length."""
    try:
        data: List[bytes] = [t.encode() for t in all]
    except AttributeError:
        raise TypeError("a list of texts is wanted") from None
    if any(b"\0" in t for t in data):
        raise Error("invalid_argument", "a text has a zero character")
    return (c_char_p * len(data))(*data), len(data)


def address(array: Any) -> Optional[int]:
    """Returns where the memory of an array begins. The caller keeps the array."""
    if len(array) == 0:
        return None
    if (interface := getattr(array, "__array_interface__", None)) is not None:
        return int(interface["data"][0])
    return ctypes.addressof(c_char.from_buffer(array))


#: Seconds that fit in timeout_ns.
_LONGEST = 9e9


def control(timeout: Optional[float], token: Optional["Token"]) -> Optional[Control]:
    """Returns the limits of a call: seconds, and a token."""
    if timeout is None and token is None:
        return None
    limits = Control(0, token._handle if token else 0)
    if timeout is not None:
        if timeout <= 0:
            raise Error("deadline", f"the timeout of {timeout} s has passed")
        limits.timeout_ns = max(1, int(min(timeout, _LONGEST) * 1e9))
    return limits


class _Owner:
    """Has the memory of a Bytes and releases it."""

    def __init__(self, bytes: Bytes) -> None:
        # At the end of the process other threads may still read the memory.
        weakref.finalize(self, _free, bytes).atexit = False


def _free(bytes: Bytes) -> None:
    if not _forked:
        _load().heddle_free(byref(bytes))


def view(bytes: Bytes) -> memoryview:
    """Returns memory of the library as a memoryview, which releases it at its end."""
    if not bytes.size:
        return memoryview(b"")
    memory = (c_uint8 * bytes.size).from_address(bytes.data or 0)
    memory._owner = _Owner(bytes)
    return memoryview(memory).cast("B").toreadonly()


def taken(bytes: Bytes) -> bytes:
    """Copies memory of the library, and releases it."""
    try:
        return ctypes.string_at(bytes.data, bytes.size) if bytes.size else b""
    finally:
        _load().heddle_free(byref(bytes))


class Handle:
    """Something open. It is a context manager; close may be called twice."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._finalizer = weakref.finalize(self, _close, handle)

    def close(self) -> None:
        """Closes it, when no call uses it any more, and what was opened with it."""
        if self._finalizer.detach():
            try:
                call("close", self._handle)
            except Error as e:
                if e.code != "closed":  # its engine was closed before
                    raise

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def info(self) -> "dict[str, int]":
        """Numbers of documents (of rows) and segments, the bound of docIDs, and the state."""
        info = Info()
        call("info_of", self._handle, byref(info))
        return {name: int(getattr(info, name)) for name, _ in Info._fields_}


def _close(handle: int) -> None:
    if not _forked:
        _load().heddle_close(handle, None)


class Token(Handle):
    """Ends calls that run in other threads: they raise Error with the code "canceled"."""

    def __init__(self) -> None:
        handle = c_uint64()
        call("token_open", byref(handle))
        super().__init__(handle.value)

    def cancel(self) -> None:
        """Ends all calls with this token, and later ones."""
        call("cancel", self._handle)


def opened(function: str, *args: Any, timeout: Optional[float] = None) -> int:
    """Calls a function that opens something, and returns the handle."""
    handle = c_uint64()
    limits = [control(timeout, None)] if _CONTROL in _FUNCTIONS[function] else []
    call(function, *args, byref(handle), *limits)
    return handle.value


def names(handle: int, docs: Any, counts: Sequence[int], k: int) -> List[List[str]]:
    """Returns the names of the documents of each row."""
    n = len(counts) * k
    ends = empty("Q", n)
    found = Bytes()
    call("names", handle, address(docs) if n else None, n, address(ends) if n else None, byref(found))
    all = taken(found)
    result: List[List[str]] = []
    at, stop = 0, ends.tolist()
    for i, count in enumerate(counts):
        line = []
        for end in stop[i * k : i * k + int(count)]:
            line.append(all[at:end].decode(errors="replace"))
            at = end
        result.append(line)
    return result
