"""ODmAP@k and R@k of trained cells, and how sure they are (decorrelation.md §3)."""
