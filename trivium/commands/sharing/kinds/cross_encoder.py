"""The text re-ranker, which sentence-transformers reads as it is."""

from json import dumps

from trivium.commands.sharing.licence import kvqae_start
from trivium.commands.sharing.package import Artifact, Described, Kind

_USAGE = """
import torch
from sentence_transformers import CrossEncoder

model = CrossEncoder({name}, num_labels=1, max_length={tokens})
pairs = [
    ("Which constituency did this man represent?", "Winston Churchill [SEP] He was a British statesman."),
    ("Which constituency did this man represent?", "Paris [SEP] It is a city."),
]
print(model.predict(pairs, activation_fn=torch.nn.Identity()))  # the higher, the more relevant
"""


class CrossEncoder(Kind):
    """Question and passage, read together (kvqae.md §4)."""

    name, kind, pattern = "cross_encoder", "model", "models/kvqae/cross_encoder/*"

    @staticmethod
    def describe(artifact: Artifact) -> Described:
        """A BERT with one output."""
        tokens = int(artifact.lineage.parameters["kvqae.texts.pair_tokens"])
        return Described(
            title=f"Trivium cross-encoder, {artifact.source.name.replace('_', '-')}",
            about="Scores how relevant a passage is to a question, read together; trained with a softmax over one "
            "relevant passage and others that were retrieved with it (Lerner et al., TAL 2022, section 6.2).",
            notes=(f"A passage is read as `title [SEP] text`; a pair is cut to {tokens} tokens, as in training.",),
            usage=_USAGE.format(name=dumps(artifact.target.name), tokens=tokens),
            files=artifact.files(),
            start=kvqae_start(artifact.project, artifact.lineage),
            library="sentence-transformers",
            task="text-ranking",
            language="en",
        )
