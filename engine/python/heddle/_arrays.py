"""Arrays of answers: numpy arrays if numpy is there, else memoryviews of the same shape. Neither is a copy."""

from __future__ import annotations

from array import array
from typing import Any, Iterator, List, Optional, Sequence, Tuple

try:
    import numpy
except ImportError:  # numpy is optional
    numpy = None  # type: ignore[assignment]

#: The number that stands behind the last document of a row of Hits.docs.
NO_DOCUMENT = 0xFFFFFFFF

#: A numpy array, or a memoryview without numpy.
Array = Any

_TYPES = {"I": "uint32", "Q": "uint64", "d": "float64"}


def empty(code: str, *shape: int) -> Array:
    """Returns memory for numbers of a type code of the module array."""
    if numpy is not None:
        return numpy.empty(shape, _TYPES[code])
    count = 1
    for n in shape:
        count *= n
    flat = memoryview(array(code, bytes(count * array(code).itemsize)))
    if len(shape) == 1 or count == 0:
        return flat
    return flat.cast("B").cast(code, list(shape))


def filled(code: str, values: Any) -> Array:
    """Returns an array of values; one that fits already is returned itself."""
    if numpy is not None:
        return numpy.ascontiguousarray(values, _TYPES[code])
    if isinstance(values, memoryview) and values.format == code and values.contiguous:
        return values
    return memoryview(array(code, values))


def row(matrix: Array, i: int, count: int) -> Array:
    """Returns the first elements of a row, as a view."""
    if numpy is not None:
        return matrix[i, :count]
    width, size = matrix.shape[1], matrix.itemsize
    flat = matrix.cast("B")[i * width * size : (i * width + count) * size]
    return flat.cast(matrix.format)


class Hits(Sequence[Tuple[Array, Optional[Array]]]):
    """The answers of a batch of queries. hits[i] is (docs, scores) of query i, without the padding.

    docs, scores  of ranked queries: a row a query, k columns, by descending score, then ascending docID;
                  NO_DOCUMENT and -infinity fill a row behind its last document
    counts        number of documents of each query
    names         names of the documents of each query, if they were asked for
    """

    def __init__(self, docs: Array, scores: Array, counts: Array, names: Optional[List[List[str]]] = None) -> None:
        self.docs, self.scores, self.counts, self.names = docs, scores, counts, names

    def __len__(self) -> int:
        return len(self.counts)

    def __getitem__(self, i: Any) -> Any:
        if i < 0:
            i += len(self)
        if not 0 <= i < len(self):
            raise IndexError(i)
        n = int(self.counts[i])
        return row(self.docs, i, n), row(self.scores, i, n)

    def ranking(self, i: int) -> Iterator[Tuple[str, float]]:
        """Yields the names and scores of query i, the best first."""
        if self.names is None:
            raise ValueError("the search did not ask for names=True")
        return zip(self.names[i], map(float, self[i][1]))
