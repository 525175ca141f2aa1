"""Where models come from, one module each; `trivium/decorrelation/benchmark/family.py` says what one is."""
