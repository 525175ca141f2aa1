"""Models that are prompted through an endpoint (complexity.md §2)."""
