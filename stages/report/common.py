"""What the fragments of all pipelines share: the templates, and the table of sizes."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment() -> Environment:
    """Jinja with escaping on and undefined names refused."""
    return Environment(
        loader=PackageLoader("stages.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def sizes_html(used: dict[str, Any], paper: dict[str, Any]) -> str:
    """Every parameter that differs from the paper's scale, with both values."""
    rows = []
    for section, values in sorted(flat(used).items()):
        other = flat(paper).get(section, values)
        if other != values:
            rows.append((section, values, other))
    return environment().get_template("sizes.html").render(rows=rows)


def flat(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """`{a: {b: 1}}` as `{"a.b": 1}`."""
    values: dict[str, Any] = {}
    for key, value in tree.items():
        values |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return values
