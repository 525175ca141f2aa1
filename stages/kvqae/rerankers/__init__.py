"""The cross-encoder, the Re-Ranking Transformer, and their fusion (kvqae.md §4)."""
