"""The parts of the GPU's bench: each has networks with drawn weights, and runs what the graph runs on them."""
