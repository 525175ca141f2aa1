"""ODmAP and R@k of every cell, with intervals and comparisons."""
