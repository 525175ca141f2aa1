"""What the graph has made, on its way to others: where it is from, its card, its files, and where they go.

`trivium push` alone comes in. Read `package.py` first, then `packing.py`; `kinds/` has a file for each kind of output.
"""
