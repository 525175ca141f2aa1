"""Human judgements of answers."""
