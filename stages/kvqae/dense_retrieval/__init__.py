"""The dual encoder: its training, its vectors, their neighbours (kvqae.md §3)."""
