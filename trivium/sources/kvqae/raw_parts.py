"""The raw folder of KVQAE, of which TriviaQA is another stage's: only later tables need it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trivium.core.atomic import remove_folder, write_atomically

PARTS = ("articles.jsonl", "wikidata.jsonl", "viquae", "images", "provenance")
TRIVIAQA = "triviaqa"


@contextmanager
def write_parts(out: Path) -> Iterator[Path]:
    """Yield a folder beside `out`; when the block succeeds its `PARTS` take their places in `out`, each in one step."""
    made = out.with_name(f"{out.name}.parts")
    with write_atomically(made) as beside:
        yield beside
        (beside / "provenance").mkdir(exist_ok=True)  # a sample comes from nowhere
    for part in PARTS:
        with write_atomically(out / part) as target:
            shutil.move(made / part, target)
    remove_folder(made)
