"""The page that people look at: tables beside the published numbers, figures, galleries.

Who comes in: the stages named `fragment`, and `report`. Read `assembly.py` first, then `kvqae/retrieval.py`.
"""
