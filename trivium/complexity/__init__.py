"""Which semantic factors make French reading comprehension hard: frames, factors, readers, and the analysis.

Used by: `stages/complexity`. Read docs/complexity.md first, then `factors/factor.py`.
"""
