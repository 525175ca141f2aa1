"""`dvc exp run` runs the experiment that was asked for, and none that a killed one has left.

DVC writes an experiment into a Git stash, and takes from there what it runs until nothing is left. A run that was
killed in between leaves its own: the next one ran it afterwards, put its parameters into the workspace, or ended with
"merge conflicts" after it had run all. Now each takes what was stashed last, its own, and no other.
"""

from typing import Any


def install(workspace: Any) -> None:
    """Replace the loop.

    Args:
        workspace: the module `dvc.repo.experiments.queue.workspace`.
    """

    def reproduce(self: Any, **options: Any) -> Any:
        try:
            entry, executor = self.get()
        except workspace.ExpQueueEmptyError:
            return {}
        if left := len(self.stash.stash_revs.keys() - {entry.stash_rev}):
            workspace.logger.warning(
                "%d other experiments lie in '%s', as killed runs leave them: they are not run", left, self.ref
            )
        return self._reproduce_entry(entry, executor, **options)

    workspace.WorkspaceQueue.reproduce = reproduce
