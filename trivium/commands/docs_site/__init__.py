"""README.md, docs/ and a generated reference as pages of one site (`make docs`), and the check of its links.

The Makefile alone comes in. Read `pages.py` first; Zensical makes HTML of what it writes, as zensical.toml says.
"""
