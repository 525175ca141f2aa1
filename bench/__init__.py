"""Speed and memory beside the peers, as ratios in one run (`make bench`)."""
