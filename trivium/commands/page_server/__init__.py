"""What stands between the page of `make ask` and whoever asks: who comes in, how much, how long, and what stays behind.

Who comes in: `trivium.commands.ask_page`. Read `guard.py` first.
"""
