"""Stage `code`: the digest of every other stage's code, into `code.yaml` (see `trivium/core/code`)."""

from trivium.core.code.command import main

if __name__ == "__main__":
    main()
