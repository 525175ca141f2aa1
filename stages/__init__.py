"""One thin module a stage, named as in `dvc.yaml`: it reads, calls the library, and writes.

Who comes in: DVC, by `python -m stages.kvqae.fuse …`. Read `stages/kvqae/fuse.py` first.
"""
