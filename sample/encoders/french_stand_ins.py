"""From parameters to files: the small models that the sample's French readers start from."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from sample.encoders.settings import Decoder, Encoder, EncoderDecoder
from trivium.core.atomic import write_atomically
from trivium.core.parameters import Parameters
from trivium.core.tables import write_json
from trivium.sources.brought import PROVENANCE
from trivium.sources.minilm import MINILM, save_minilm

Model = Literal["camembert", "camembert_deep", "minilm", "t5", "flan_t5", "mt5", "llama"]


# T5's three kinds have one architecture or nearly so: each draws weights of its own. What differs anyway may share.
SEED_AFTER = {"flan_t5": 1, "mt5": 2}


class ComplexityBaseModelsParameters(Parameters):
    """Section `complexity.base_models`; `hub` and `local` read `models` only."""

    models: tuple[Model, ...] = Field(min_length=1, description="Which models to make, download or take")
    seed: int = Field(ge=0, description="Seed of the stand-ins' weights")
    vocabulary: int = Field(ge=300, description="Tokens of the stand-ins' tokenizer, learnt from training questions")
    multilingual_vocabulary: int = Field(ge=300, description="Tokens of mT5's, whose own is larger than the others'")
    encoder: Encoder = Field(description="CamemBERT's stand-in; MiniLM takes its dropout")
    deep_layers: int = Field(ge=1, description="Of a second CamemBERT, that tells readers of two sizes apart")
    encoder_decoder: EncoderDecoder = Field(description="Stand-ins of T5, FLAN-T5 and mT5")
    decoder: Decoder = Field(description="Llama's stand-in")


def make_stand_ins(parameters: ComplexityBaseModelsParameters, fquad: Path, out: Path) -> dict[str, float]:
    """Write the sample's models, with tokenizers learnt from the training questions of FQuAD's role.

    Returns:
        `<model>_parameters`, and `vocabulary` and `multilingual_vocabulary`: the tokens there are.
    """
    import torch

    from sample.encoders import french
    from trivium.formats.squad import read_squad

    questions = read_squad(fquad / "train.json").questions
    contexts = dict.fromkeys(each.context for each in questions)
    texts = [*contexts, *(each.question for each in questions)]
    shared = french.train_tokenizer(texts, parameters.vocabulary)
    multilingual = french.train_tokenizer(texts, parameters.multilingual_vocabulary)
    metrics = {
        "vocabulary": float(shared.get_vocab_size()),
        "multilingual_vocabulary": float(multilingual.get_vocab_size()),
    }
    with write_atomically(out) as beside:
        beside.mkdir(parents=True)
        for model in parameters.models:
            folder = beside / model
            tokenizer = multilingual if model == "mt5" else shared
            torch.manual_seed(parameters.seed + SEED_AFTER.get(model, 0))
            if model == "minilm":
                count = save_minilm(folder, dropout=parameters.encoder.dropout)
            elif model in ("camembert", "camembert_deep"):
                layers = parameters.deep_layers if model == "camembert_deep" else parameters.encoder.layers
                sizes = parameters.encoder.model_copy(update={"layers": layers})
                count = french.save_camembert(tokenizer, sizes, folder)
            elif model == "llama":
                count = french.save_llama(tokenizer, parameters.decoder, folder)
            else:
                count = french.save_t5(tokenizer, parameters.encoder_decoder, folder, version=model)
            metrics[f"{model}_parameters"] = float(count)
            origin = {"from": f"the architecture of {model}, small, random weights", "licence": "apache-2.0"}
            write_json(folder / PROVENANCE, MINILM if model == "minilm" else origin)
    return metrics
