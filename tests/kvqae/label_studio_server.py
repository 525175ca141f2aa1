# /// script
# requires-python = ">=3.11,<3.14"
# dependencies = ["label-studio==1.23.*"]
# ///
"""A Label Studio of its own: `uv run --frozen --script` of this file starts one in an environment that its lock pins.

Started by the round-trip test, never by hand. After a change of the lines above:
`uv lock --script tests/kvqae/label_studio_server.py`.
"""

from label_studio.server import main

if __name__ == "__main__":
    main()
