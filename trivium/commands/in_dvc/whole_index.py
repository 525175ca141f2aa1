"""`dvc push` and `dvc pull` look at all outputs, also after one that was killed.

DVC keeps what it has collected for a push or a pull in a database, a part for each output, and takes the parts of an
earlier run for all of them: after a kill between two parts `dvc pull` brought some outputs, called the others missing,
and did so for ever. Now they are collected anew each time, in memory, which takes a fraction of a second.
"""

from typing import Any


def install(collect: Any) -> None:
    """Replace how what is pushed or pulled is collected.

    Args:
        collect: the module `dvc_data.index.collect`.
    """
    inherited = collect.collect

    def collect_anew(*indexes: Any, cache_index: Any = None, cache_key: Any = None, **options: Any) -> Any:
        return inherited(*indexes, **options)

    collect.collect = collect_anew
