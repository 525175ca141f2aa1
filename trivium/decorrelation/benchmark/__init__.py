"""How much does a model guess: any model of pictures and texts, asked the test queries of the graph (docs/odmap.md)."""
