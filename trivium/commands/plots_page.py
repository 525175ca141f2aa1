"""The page that `dvc plots show` fills in, with Vega inside: DVC's own asks a server for it. `make setup` writes it."""

import sys
from pathlib import Path

from trivium.core.atomic import write_text

# DVC puts its figures where {plot_divs} stands. They call `vegaEmbed` with a description alone; SVG stays sharp. Of a
# table without rows, as a stage leaves that took a model and trained none, DVC describes nothing, and nothing is drawn.
EMBED = """window.vegaEmbed = (place, description) => description.data
    ? vegaEmbed(place, description, {renderer: "svg", actions: {editor: false}})
    : document.querySelector(place).remove();"""
BEFORE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">{refresh_tag}
<meta http-equiv="Content-Security-Policy" content="default-src data: blob: 'unsafe-inline' 'unsafe-eval'">
<title>Trivium: plots</title>
<style>body { font-family: system-ui, sans-serif; margin: 1.5rem } body > div { margin-bottom: 3rem }</style>
<script>{
"""
AFTER = """
}</script></head><body>
{plot_divs}
</body></html>
"""


def main(out: Path) -> None:
    """Write the page."""
    import vl_convert  # brings a whole JavaScript engine: only for who writes the page

    write_text(out, f"{BEFORE}{vl_convert.javascript_bundle(EMBED)}{AFTER}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
