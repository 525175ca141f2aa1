"""Questions about the named entity in an image: retrieval, re-ranking, reading, and how the data set is built.

Used by: `stages/kvqae`. Read docs/kvqae.md first, then `retrieval/fusion.py`.
"""
