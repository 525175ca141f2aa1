"""The reader: its data, its training, its answers (kvqae.md §5)."""
