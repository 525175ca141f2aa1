"""What stages cost, for `make plan`: a function a pipeline, read by `trivium/commands/plan.py`."""
