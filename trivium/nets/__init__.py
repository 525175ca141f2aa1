"""Every torch module, its weights on disk, and the device that it runs on; no network knows a data set.

Who comes in: the papers' rooms, which train and ask them. Read `dual_encoder.py` first.
"""
