"""What each kind of output becomes when it is shared, one module each; `package.py` says what one is."""
