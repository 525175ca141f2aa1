"""Code as a dependency: a digest of all that a stage may execute or read from beside the code; read `digest.py`."""
