"""Trivium: KVQAE, decorrelated image-text retrieval and complexity of reading, as one DVC graph."""
