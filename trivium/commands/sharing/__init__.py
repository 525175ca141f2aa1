"""What the graph has made, on its way to others: where it is from, its card, its files, and where they go.

`trivium push` alone comes in. Read `package.py` first; `kinds/` says what each kind of output becomes, a file each.
"""
