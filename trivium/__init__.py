"""Three roads into multimodal and textual question answering: the library.

Whoever has ranked lists comes in here; each name is imported when it is first used:

    >>> import trivium
    >>> qrels = {"q1": ["Paris"], "q2": ["Rome", "Oslo"]}
    >>> text = {"q1": {"Paris": 2.5, "Bonn": 1.5}, "q2": {"Bonn": 3.0, "Rome": 1.0}}
    >>> image = {"q1": {"Bonn": 0.9, "Paris": 0.8}, "q2": {"Rome": 0.7, "Bonn": 0.1}}
    >>> trivium.evaluate(qrels, text, ["map@5", "mrr"])
    {'map@5': 0.625, 'mrr': 0.75}
    >>> trivium.per_query(qrels, text, ["mrr"])
    {'mrr': {'q1': 1.0, 'q2': 0.5}}
    >>> trivium.evaluate(qrels, text, ["recip_rank", "P@1", "R@100"])  # by trec_eval's and ir_measures' names, too
    {'recip_rank': 0.75, 'P@1': 0.5, 'R@100': 0.75}
    >>> both = trivium.fuse([text, image], [0.5, 0.5])
    >>> print(trivium.compare(qrels, {"text": text, "image": image, "both": both}, ["mrr", "map@5"]))
              mrr         map@5
    a  text   0.750       0.625
    b  image  0.750       0.500
    c  both   0.750       0.625
    >>> trivium.search_weights(qrels, {"text": text, "image": image}, step=0.5)
    {'text': 0.0, 'image': 1.0}
    >>> trivium.Run.from_dict(text, name="text")
    Run 'text': 2 queries, depth 2
      q1  Paris, Bonn
      q2  Bonn, Rome

Judgements and runs are dictionaries as these, TREC files by their path, DataFrames of pandas (also with PyTerrier's
columns), or `Qrels` and `Run`, which are arrays. `read_run`, `write_run`, `read_qrels` and `write_qrels` know TREC's
files; `to_frame` makes a DataFrame for PyTerrier.
`difficulty` and `write_difficulty` say what makes the questions of a set hard, `compare_models` which of two models is
better on which of them, `write_partitions` cuts the set by it (docs/difficulty.md). `odmap` and `write_leaderboard` say
how much models of pictures and texts guess (docs/odmap.md). Whatever is wrong with a file is a `BadInput`.

Used by: people and notebooks, never the library itself. To read the code, begin with the `__init__` of a room.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trivium.complexity.difficulty.analysis import difficulty as difficulty
    from trivium.complexity.difficulty.comparison import compare_models as compare_models
    from trivium.complexity.difficulty.partitions import write_partitions as write_partitions
    from trivium.core.errors import BadInput as BadInput
    from trivium.decorrelation.benchmark.leaderboard import odmap as odmap
    from trivium.formats.front_door import compare as compare
    from trivium.formats.front_door import evaluate as evaluate
    from trivium.formats.front_door import fuse as fuse
    from trivium.formats.front_door import per_query as per_query
    from trivium.formats.front_door import search_weights as search_weights
    from trivium.formats.front_door import to_frame as to_frame
    from trivium.formats.front_door import write_run as write_run
    from trivium.formats.given_runs import read_qrels as read_qrels
    from trivium.formats.given_runs import read_run as read_run
    from trivium.formats.trec import write_qrels as write_qrels
    from trivium.measures.runs import Qrels as Qrels
    from trivium.measures.runs import Run as Run
    from trivium.page.difficulty import write_difficulty as write_difficulty
    from trivium.page.leaderboard import write_leaderboard as write_leaderboard

__version__ = "0.3.0"
LAZY: dict[str, str] = {
    "BadInput": "trivium.core.errors",
    "Qrels": "trivium.measures.runs",
    "Run": "trivium.measures.runs",
    "compare": "trivium.formats.front_door",
    "compare_models": "trivium.complexity.difficulty.comparison",
    "difficulty": "trivium.complexity.difficulty.analysis",
    "evaluate": "trivium.formats.front_door",
    "fuse": "trivium.formats.front_door",
    "odmap": "trivium.decorrelation.benchmark.leaderboard",
    "per_query": "trivium.formats.front_door",
    "read_qrels": "trivium.formats.given_runs",
    "read_run": "trivium.formats.given_runs",
    "search_weights": "trivium.formats.front_door",
    "to_frame": "trivium.formats.front_door",
    "write_difficulty": "trivium.page.difficulty",
    "write_leaderboard": "trivium.page.leaderboard",
    "write_partitions": "trivium.complexity.difficulty.partitions",
    "write_qrels": "trivium.formats.trec",
    "write_run": "trivium.formats.front_door",
}


def __getattr__(name: str) -> Any:
    if name not in LAZY:
        raise AttributeError(f"module 'trivium' has no {name!r} (choices: {', '.join(LAZY)})")
    return getattr(import_module(LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *LAZY])
