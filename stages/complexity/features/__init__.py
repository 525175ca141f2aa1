"""What factors are computed from: dependency arcs, inflections, shared words (complexity.md §4)."""
