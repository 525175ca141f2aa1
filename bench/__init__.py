"""Speed and memory compared with other libraries, as ratios in one run (`make bench`)."""
