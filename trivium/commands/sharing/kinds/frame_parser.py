"""The parser of French frames, which this project alone loads."""

from trivium.commands.sharing.kinds.retrieval_model import ours
from trivium.commands.sharing.licence import start_in
from trivium.commands.sharing.package import Artifact, Described, Kind

_USAGE = """
from pathlib import Path

from trivium.complexity.frames.parser_folder import load_parser
from trivium.complexity.frames.parsing import parse
from trivium.complexity.frames.windows import windows_of

parser = load_parser(Path({where}))
texts = ["Le roi a nommé un ministre."]
windows, _ = windows_of(texts, parser.tokenizer, parser.max_tokens)
frames = parse(parser, texts, windows, batch_size=8)
print(frames)
"""
_BASE = "models/complexity/base/camembert"


class FrameParser(Kind):
    """Triggers, frames and elements (complexity.md §3)."""

    name, kind, pattern = "frame_parser", "model", "models/complexity/frame_parser"

    @staticmethod
    def describe(artifact: Artifact) -> Described:
        """An encoder in transformers' format, and heads of our own."""
        return Described(
            title="Trivium's parser of French frames",
            about="Finds triggers, the frames that they evoke and the frames' elements, by tagging words: a sentence "
            "is read once for its triggers and once more for the elements of each.",
            notes=(
                "No public library loads it; this project's does: `pip install .` in its repository. `encoder/` alone "
                "is a model of transformers.",
            ),
            usage=_USAGE.format(where=ours(artifact)),
            files=artifact.files(),
            start=start_in(artifact.project / _BASE),
            library="trivium",
            task="token-classification",
            language="fr",
            tags=("framenet",),
            measures=r"(?:trigger|frame|element)_(?:precision|recall|f1)",
        )
