"""The reader: what it sees, how it is trained, and the answers of Table 7's rows."""
