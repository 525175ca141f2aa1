"""What one GPU reaches, by the code that the graph runs and networks of the papers' size: `python -m bench.gpu`."""
