"""Torch modules, no input or output."""
