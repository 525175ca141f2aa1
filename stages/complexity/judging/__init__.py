"""Human judgements: Label Studio's formats and CSV (complexity.md §3)."""
