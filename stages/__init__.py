"""One thin module a stage, named as in `dvc.yaml`: it reads, calls the library, and writes.

Used by: DVC, by `python -m stages kvqae.fuse …`. Read `stages/kvqae/fuse.py` first.
Numeric libraries read their settings when they are loaded, so these are made here, before any stage imports one.
"""

from trivium.core.arithmetic import settle_command

settle_command()
