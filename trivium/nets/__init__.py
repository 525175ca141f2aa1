"""Networks in torch, their weights on disk, devices, and the training loop; none depends on a data set.

Used by: the papers' rooms, which train and run them. Read `training.py` first, the loop of all
trainings, then a network such as `bert.py`.
"""
