"""Training a retrieval model on D, on D with D', or not at all."""
