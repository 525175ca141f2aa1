"""Three roads into multimodal and textual question answering: the library.

Whoever has ranked lists comes in here; each name is imported when it is first used:

    >>> import trivium
    >>> qrels = trivium.Qrels.from_dict({"q1": [3], "q2": [7, 8]})
    >>> text = trivium.Run.from_dict({"q1": {3: 2.5, 4: 1.5}, "q2": {9: 3.0, 7: 1.0}}, name="text")
    >>> image = trivium.Run.from_dict({"q1": {4: 0.9, 3: 0.8}, "q2": {7: 0.7, 9: 0.1}}, name="image")
    >>> trivium.evaluate(qrels, text, ["map@5", "mrr"])
    {'map@5': 0.625, 'mrr': 0.75}
    >>> both = trivium.fuse([text, image], [0.5, 0.5], name="both")
    >>> print(trivium.compare(qrels, [text, image, both], ["mrr", "map@5"]))
              mrr         map@5
    a  text   0.750       0.625
    b  image  0.750       0.500
    c  both   0.750       0.625

`read_run`, `write_run`, `read_qrels` and `write_qrels` know TREC's files.
`difficulty` and `write_difficulty` say what makes the questions of a set hard (docs/difficulty.md).
Whatever is wrong with a file is a `BadInput`.

Who comes in here: people and notebooks, never the library itself. Whoever reads the code begins with the `__init__`
of a room.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trivium.complexity.difficulty.analysis import difficulty as difficulty
    from trivium.errors import BadInput as BadInput
    from trivium.formats.trec import read_qrels as read_qrels
    from trivium.formats.trec import read_run as read_run
    from trivium.formats.trec import write_qrels as write_qrels
    from trivium.formats.trec import write_run as write_run
    from trivium.measures.front_door import compare as compare
    from trivium.measures.front_door import evaluate as evaluate
    from trivium.measures.front_door import fuse as fuse
    from trivium.measures.runs import Qrels as Qrels
    from trivium.measures.runs import Run as Run
    from trivium.page.difficulty import write_difficulty as write_difficulty

LAZY: dict[str, str] = {
    "BadInput": "trivium.errors",
    "Qrels": "trivium.measures.runs",
    "Run": "trivium.measures.runs",
    "compare": "trivium.measures.front_door",
    "difficulty": "trivium.complexity.difficulty.analysis",
    "evaluate": "trivium.measures.front_door",
    "fuse": "trivium.measures.front_door",
    "read_qrels": "trivium.formats.trec",
    "read_run": "trivium.formats.trec",
    "write_difficulty": "trivium.page.difficulty",
    "write_qrels": "trivium.formats.trec",
    "write_run": "trivium.formats.trec",
}


def __getattr__(name: str) -> Any:
    if name not in LAZY:
        raise AttributeError(f"module 'trivium' has no {name!r} (choices: {', '.join(LAZY)})")
    return getattr(import_module(LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *LAZY])
