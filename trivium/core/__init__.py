"""What every room stands on: files that are complete or absent, parameters, running a stage, shards, code digests.

Used by: all code that reads or writes files, and every module of `stages/` through `stage`. Read `stage.py` first.
"""
