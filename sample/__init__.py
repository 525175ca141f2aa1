"""The sample world: invented from seeds, free of licences, in the formats of the real data.

Used by: the stages that make raw data and stand-in models. Read `kvqae/write.py` first, then
`render/photographs.py`.
"""
