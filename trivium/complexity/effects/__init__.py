"""What a factor costs: the paper's analysis, tests beyond it, and planted effects that check it."""
