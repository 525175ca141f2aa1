"""Stage `code`: the digest of every other stage's code, into `code.yaml` (see `trivium/harness/code`)."""

from trivium.harness.code.command import main

if __name__ == "__main__":
    main()
