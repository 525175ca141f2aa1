"""Decorrelation on the page."""
