"""A cache whose files are hard links into the workspace is not believed by a file's mode alone.

DVC takes a read-only file of its cache for whole. A program that may write it all the same (root may) and writes in
place into its link changes the cache; `dvc checkout` and `dvc push` would hand the damage on, also after that link has
gone. The cache's files are compared by their hash, which DVC remembers while size, time of change and number of the
file stay the same. What does not agree goes out of the cache, and its stage runs again.
"""

from typing import Any


def install(local: Any) -> None:
    """Replace the check of a cache's file.

    Args:
        local: the module `dvc_data.hashfile.db.local`.
    """
    from dvc_data.hashfile.state import StateNoop

    database = local.LocalHashFileDB
    check = database.check

    def check_hash_of_cache(self: Any, oid: str, check_hash: bool = True, _info: Any = None) -> Any:
        if isinstance(self.state, StateNoop):  # a remote's, which has no links and whose hashes nobody remembers
            return check(self, oid, check_hash, _info)
        return super(database, self).check(oid, check_hash, _info)

    database.check = check_hash_of_cache
