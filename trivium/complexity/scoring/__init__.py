"""Table 1: answers of every model, scored beside trivial baselines."""
