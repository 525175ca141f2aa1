"""What is claimed of the sample world, the values behind it, and whether it holds in every world.

Used by: `make thorough`, `make readme` and the stage `report`. Read `verdicts.py` first.
"""
