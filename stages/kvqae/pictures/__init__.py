"""Pictures, faces and whole-image encoders (kvqae.md §3)."""
