"""Parts of the GPU's bench: each writes networks with random weights, and runs them as the graph does."""
