"""Which factors make which models worse: the analysis and its tables (complexity.md §5)."""
