"""A kill while DVC writes its run cache stops no later run.

DVC makes a folder for what a stage made from the same inputs, and then writes a file into it, under another name at
first. Where a kill came in between, the folder is empty or holds half a file, and every later run of the stage ended
with "join() argument must be str" or "'outs'". Now only a file that is named as DVC names entries is one.
"""

import re
from typing import Any

ENTRY = re.compile("[0-9a-f]{64}")


def install(cache: Any) -> None:
    """Replace the reading of an entry.

    Args:
        cache: the module `dvc.stage.cache`.
    """
    load = cache.StageCache._load_cache

    def load_entry(self: Any, key: str, value: str | None) -> Any:
        if ENTRY.fullmatch(value or ""):
            return load(self, key, value)
        cache.logger.warning("'%s' was broken off by a kill: it is no entry", self._get_cache_path(key, value or ""))
        return None

    cache.StageCache._load_cache = load_entry
