"""Which searches by entities' names there are: `name_search.py` makes their runs, others read them (kvqae.md §3)."""

from typing import Annotated, Any

from pydantic import Field

SECTION = "kvqae.name_encoders"  # of params.yaml: image encoders whose text tower reads names
_SUFFIX = "_names"

NameEncoders = Annotated[
    dict[str, dict[str, Any]],
    Field(default_factory=dict, description="Image encoders whose text tower reads entities' names"),
]


def system_of(encoder: str) -> str:
    """The name of an encoder's search by names: of its runs and rows, and of its weight in a fusion."""
    return f"{encoder}{_SUFFIX}"
