"""The parts of the rehearsal: each makes invented data and runs what the graph runs on them."""
