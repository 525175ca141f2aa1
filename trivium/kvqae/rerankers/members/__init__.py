"""Re-rankers, one file each, with one class that bears the file's name; `../reranker.py` says what it has."""
