"""Load spaCy's pipelines of any language from an installed package or a folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trivium.core.errors import BadInput

if TYPE_CHECKING:
    from spacy.language import Language


def load_pipeline(
    name: str | Path, *, expected: str, needed: Sequence[str] = ("parser",), exclude: Sequence[str] = (),
    field: str = "spacy_model",
) -> "Language":  # fmt: skip
    """Load a pipeline from a package or a folder, without the pipes in `exclude`.

    Raises:
        BadInput: there is no such pipeline, or it lacks a needed pipe.
    """
    import spacy  # it takes seconds

    try:
        pipeline = spacy.load(name, exclude=list(exclude))
    except (OSError, ValueError) as error:
        problem = f"spaCy's pipeline cannot be loaded: {str(error).partition(chr(10))[0]}"
        raise BadInput(problem, field=field, got=str(name), expected=expected) from error
    if missing := [pipe for pipe in needed if pipe not in pipeline.pipe_names]:
        problem = f"spaCy's pipeline has no {', '.join(missing)}"
        raise BadInput(problem, field=field, got=str(name), expected=expected, choices=pipeline.pipe_names)
    return pipeline
