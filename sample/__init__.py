"""The sample world: invented, seeded, free of licences, in the formats of the real data.

Who comes in: only the stages that make raw data and stand-in models. Read `kvqae/write.py` first, then
`render/photographs.py`.
"""
