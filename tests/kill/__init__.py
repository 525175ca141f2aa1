"""Kills, counted: a graph is killed at planned moments, run again without help, and compared with an undisturbed run.

`make kill`, or `python -m tests.kill --help`. Read `campaign.py` first: what a round is. `check.py` says what is wrong
afterwards, `plan.py` draws a round from its seed.
"""
