"""Fuzzing of every reader: each case is a clean `BadInput` or a valid record. `make fuzz` runs more of them."""
