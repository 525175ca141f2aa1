"""`python -m trivium.commands`: the same as `python -m trivium`."""

from trivium.commands.cli import main

if __name__ == "__main__":
    main()
