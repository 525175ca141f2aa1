"""`python -m trivium`: the command `trivium` where the package is not installed."""

from trivium.commands.cli import main

if __name__ == "__main__":
    main()
