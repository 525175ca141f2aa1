"""Asking a trained model: captions for painted and untouched pictures."""
