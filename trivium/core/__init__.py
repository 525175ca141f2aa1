"""What every room stands on: files that are complete or absent, parameters, running a stage, shards, code digests.

Who comes in: everybody who reads or writes, and every module of `stages/` through `run_stage`. Read `stage.py` first.
"""
