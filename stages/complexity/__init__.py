"""The stages of complexity."""
