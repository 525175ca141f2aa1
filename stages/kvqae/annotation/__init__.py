"""What annotators see, what they decide, and how far they agree (kvqae.md §2)."""
