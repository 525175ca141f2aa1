"""The spaCy pipeline that finds mentions."""

from json import dumps

from trivium.commands.sharing.package import Artifact, Described, Kind
from trivium.core.errors import BadInput

_FOLDER = """
import spacy

pipeline = spacy.load({name})
found = [(entity.text, entity.label_) for entity in pipeline("Which party did Winston Churchill lead?").ents]
print(found)
"""
_HUB = _FOLDER.replace("import spacy", "import spacy\nfrom huggingface_hub import snapshot_download").replace(
    "load({name})", "load(snapshot_download({name}))"
)


class MentionModel(Kind):
    """One that was trained here."""

    name, kind, pattern = "mention_model", "model", "models/kvqae/spacy"

    @staticmethod
    def describe(artifact: Artifact) -> Described:
        """A folder that only names an installed pipeline does not leave."""
        if not (artifact.source / "meta.json").is_file():
            raise BadInput(
                "it only names an installed pipeline of spaCy: there is nothing to share", file=artifact.source
            )
        usage = _HUB if artifact.target.hub else _FOLDER
        return Described(
            title="Trivium's finder of mentions",
            about="Named entities and dependencies of English questions, by spaCy; small, and of one domain.",
            usage=usage.format(name=dumps(artifact.target.name)),
            files=artifact.files(),
            start=None,
            library="spacy",
            task="token-classification",
            language="en",
            measures=r"las|uas|ner_(?:precision|recall|f1)",
        )
