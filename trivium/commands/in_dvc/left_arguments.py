"""What a killed `dvc exp run` has handed to Git for itself is taken back by the next one.

DVC packs what an experiment was asked for into `.dvc/tmp/repro.dat`, and adds that to Git's index so that it travels
in the stash; the experiment removes it when it starts, and then takes it out of the index. A run that was killed in
between left it there, and the next `dvc exp run` ended with "Stash apply resulted in merge conflicts".
"""

from typing import Any


def install(queue: Any) -> None:
    """Look for it before an experiment is stashed.

    Args:
        queue: the module `dvc.repo.experiments.queue.base`.
    """
    stash = queue.BaseStashQueue._stash_exp

    def stash_without_it(self: Any, *arguments: Any, **options: Any) -> Any:
        if self.scm.is_tracked(self.args_file):
            queue.logger.warning("a killed experiment left '%s' in Git's index: it is taken out", self.args_file)
            self.scm.gitpython.reset(paths=[self.args_file])  # to what was committed: nothing
        return stash(self, *arguments, **options)

    queue.BaseStashQueue._stash_exp = stash_without_it
