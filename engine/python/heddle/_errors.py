"""The error of all calls."""


class Error(Exception):
    """An error of the engine, of the library or of a server.

    code is its class, such as "invalid_query" or "deadline": the names that the command and the server use, and
    "invalid_handle", "invalid_argument" and "short_buffer" of the library.
    """

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
