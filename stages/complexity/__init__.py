"""Which semantic factors make French reading comprehension hard (complexity.md)."""
