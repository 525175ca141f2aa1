"""Speed of one GPU with the code of the graph and networks of the papers' size: `python -m bench.gpu`."""
