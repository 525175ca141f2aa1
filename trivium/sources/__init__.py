"""Where raw data and models come from: pins, downloads, checks, files that users bring.

Used by: the stages named `world`, `base_models` and `sources`. Read `pins.py` and `download.py` first.
"""
