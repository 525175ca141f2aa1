"""Files that are complete or absent: atomic writes, JSON, Parquet, image shards, matrices, zips.

`reading.py` checks all that is read, for all formats.
Who comes in: everybody who reads or writes. Read `atomic.py` first.
"""
