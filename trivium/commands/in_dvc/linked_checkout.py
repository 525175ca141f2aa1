"""`dvc checkout` takes nothing out of the cache that is not what its name says.

DVC puts into the workspace whatever lies in the cache under the name, also what a program has written there through its
link, see `linked_cache`. Now each file is checked before; a damaged one goes out of the cache, and DVC says that it is
missing.
"""

from contextlib import suppress
from typing import Any


def install(checkout: Any) -> None:
    """Look at the files before they are linked or copied.

    Args:
        checkout: the module `dvc_data.index.checkout`.
    """
    from dvc_objects.errors import ObjectFormatError

    apply = checkout.apply

    def apply_checked(diff: Any, path: str, fs: Any, *, storage: str = "cache", **options: Any) -> None:
        for entry in diff.files_create if storage == "cache" else ():
            cache = diff.new.storage_map[entry.key].cache
            if isinstance(cache, checkout.ObjectStorage) and entry.hash_info:
                with suppress(FileNotFoundError, ObjectFormatError):  # it is missing, now at least
                    cache.odb.check(entry.hash_info.value)
        apply(diff, path, fs, storage=storage, **options)

    checkout.apply = apply_checked
