"""Knowledge bases of one's own: a folder of texts and pictures, asked at once (own_pictures.md).

Who comes in: `trivium kb` makes a base, `trivium ask --kb` and the page ask it. Read `entries.py` first, then
`building.py` and `asking.py`.
"""
