"""`dvc push` and `dvc pull` look at all outputs, also after one that was killed.

DVC keeps a database of what is to be pushed or pulled, and takes what it finds of an earlier run for the whole. Each
look-up commits, so that a kill or a full disk leaves a part: `dvc pull` then brought some outputs, called the others
missing or everything up to date, and did so for ever. Now that index lies in memory, and is made anew each time, which
takes a fraction of a second.
"""

from typing import Any


def install(repo: Any) -> None:
    """Replace where the index of outputs is kept.

    Args:
        repo: the module `dvc.repo`.
    """

    def data_index(self: Any) -> Any:
        if self._data_index is None:
            from dvc_data.index import DataIndex

            self._data_index = DataIndex()
        return self._data_index

    def drop_data_index(self: Any) -> None:
        self._data_index = None

    repo.Repo.data_index = property(data_index)
    repo.Repo.drop_data_index = drop_data_index
