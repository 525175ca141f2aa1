"""Measured on real data, which the project does not hold (`make real`): figures only."""
