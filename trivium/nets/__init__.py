"""Every torch module, its weights on disk, and the device that it runs on; no network knows a data set.

Who comes in: the papers' rooms, which train and ask them. Read `training.py` first, the one loop for all
trainings, then a network such as `bert.py`.
"""
