"""Prompted models behind an endpoint."""
