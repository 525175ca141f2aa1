"""Parts of the rehearsal: each makes invented data and processes them as the graph does."""
