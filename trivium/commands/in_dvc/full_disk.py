"""DVC ends with a message where its databases cannot be written.

DVC remembers hashes and links in SQLite, by `diskcache`, which tries to begin a transaction again and again whatever
the reason is why it cannot: on a full disk `dvc` took a whole processor, said nothing, and ended only when somebody
had made room. Now only a lock of another process is waited for.
"""

import sqlite3
from typing import Any


def install(cache: Any) -> None:
    """Replace how statements are executed.

    Args:
        cache: the module `dvc_data.hashfile.cache`.
    """
    inherited = cache.Cache._sql.fget

    def of_cache(self: Any) -> Any:
        execute = inherited(self)

        def execute_or_end(statement: str, *values: Any, **named: Any) -> Any:
            try:
                return execute(statement, *values, **named)
            except sqlite3.OperationalError as error:
                waits = error.sqlite_errorname.startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
                if statement != "BEGIN IMMEDIATE" or waits:
                    raise
                from dvc.exceptions import DvcException

                raise DvcException(f"{self.directory} cannot be written to ({error}); is the disk full?") from error

        return execute_or_end

    cache.Cache._sql = property(of_cache)
