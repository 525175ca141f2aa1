"""Complexity on the page."""
