"""KVQAE on the page."""
