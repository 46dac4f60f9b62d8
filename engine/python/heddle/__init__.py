"""heddle: exact search of posting lists and bitmap tables, in this process or on a server.

    import heddle

    with heddle.Index("x.hdl") as index:
        hits = index.search(["faith hope"], k=10)
        hits.docs, hits.scores          # arrays of 1 row and 10 columns

README.md beside this package describes all of it.
"""

from ._arrays import NO_DOCUMENT, Hits
from ._errors import Error
from ._native import Token, abi_version, version
from .client import Client
from .evaluation import Evaluation, evaluate, read_topics, write_run
from .index import Collection, Engine, Index, Weights, build_index
from .retrievers import Retriever, Searcher
from .table import Table, Values, build_table

__all__ = [
    "NO_DOCUMENT", "Client", "Collection", "Engine", "Error", "Evaluation", "Hits", "Index", "Retriever", "Searcher",
    "Table", "Token", "Values", "Weights", "abi_version", "build_index", "build_table", "evaluate", "read_topics",
    "version", "write_run",
]
