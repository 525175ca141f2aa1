"""Files that are complete or absent: atomic writes, JSON, Parquet, image shards, memory-mapped matrices.

Who comes in: everybody who writes. Read `atomic.py` first.
"""
