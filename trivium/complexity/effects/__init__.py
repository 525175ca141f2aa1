"""Effects of factors on scores: the paper's analysis, and tests beyond it."""
