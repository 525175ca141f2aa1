"""Answer questions about pictures from a knowledge base in memory: the graph's, or a user's own (own_pictures.md).

`trivium kb` makes a base; `trivium ask` and the page ask it. Read `asker.py` first: one question's way through search,
fusion, re-ranking and reading. `graph.py` and `own_base.py` open the two kinds of base; `building.py` makes one from a
folder of texts and pictures.
"""
