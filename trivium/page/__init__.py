"""The page that people look at: tables beside the published numbers, figures, galleries.

Used by: the stages named `page_*`, and `report`. Read `contents.py` first, then `kvqae/retrieval.py`.
"""
