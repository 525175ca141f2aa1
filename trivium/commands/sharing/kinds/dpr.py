"""DPR's two encoders as one model of sentence-transformers: questions take one way through it, passages the other."""

from json import dumps
from pathlib import Path

from trivium.commands.sharing.licence import kvqae_start
from trivium.commands.sharing.package import Artifact, Described, Kind

_USAGE = """
from sentence_transformers import SentenceTransformer

model = SentenceTransformer({name})
questions = model.encode_query(["Which constituency did this man represent?"])
passages = model.encode_document(["Winston Churchill [SEP] He was a British statesman.", "Paris [SEP] It is a city."])
print(questions @ passages.T)  # inner products: the higher, the better
"""


class Dpr(Kind):
    """Vectors of [CLS], compared by inner products (kvqae.md §3)."""

    name, kind, pattern = "dpr", "model", "models/kvqae/dpr/*"

    @staticmethod
    def describe(artifact: Artifact) -> Described:
        """Both towers are loaded and saved by sentence-transformers, which keeps the longest text."""
        tokens = int(artifact.lineage.parameters["kvqae.texts.tokens"])
        _convert(artifact.source, artifact.work, tokens)
        shot = artifact.source.name.replace("_", "-")
        return Described(
            title=f"Trivium DPR, {shot}",
            about="Dense passage retrieval for knowledge-based visual question answering: a question's vector finds "
            "passages by inner product (Karpukhin et al., EMNLP 2020; Lerner et al., ECIR 2023).",
            notes=(f"A passage is read as `title [SEP] text`. Texts are cut to {tokens} tokens, as in training.",),
            usage=_USAGE.format(name=dumps(artifact.target.name)),
            files={str(path.relative_to(artifact.work)): path for path in artifact.work.rglob("*") if path.is_file()},
            start=kvqae_start(artifact.project, artifact.lineage),
            library="sentence-transformers",
            task="sentence-similarity",
            language="en",
            tags=("dense-passage-retrieval",),
        )


def _convert(source: Path, out: Path, tokens: int) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Router, Transformer

    towers = {}
    for way in ("question", "passage"):
        bert = Transformer(
            str(source / way),
            max_seq_length=tokens,
            model_kwargs={"add_pooling_layer": False, "use_safetensors": True, "local_files_only": True},
            processor_kwargs={"local_files_only": True},
        )
        towers[way] = [bert, Pooling(int(bert.auto_model.config.hidden_size), "cls")]
    router = Router.for_query_document(towers["question"], towers["passage"])
    model = SentenceTransformer(modules=[router], device="cpu", similarity_fn_name="dot", trust_remote_code=False)
    model.save_pretrained(str(out), create_model_card=False)
