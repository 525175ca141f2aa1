"""How the stand-ins of French readers are sized: section `complexity.base_models`."""

from typing import Literal

from pydantic import Field

from trivium.core.parameters import Parameters

Model = Literal["camembert", "camembert_deep", "minilm", "t5", "flan_t5", "mt5", "llama"]


class Decoder(Parameters):
    """A stand-in that goes on writing."""

    layers: int = Field(ge=1, description="Layers")
    width: int = Field(ge=8, description="Size of a token's vector")
    heads: int = Field(ge=1, description="Attention heads, a divisor of the width")
    feed_forward: int = Field(ge=8, description="Inner size of the feed-forward layers")


class Encoder(Decoder):
    """A stand-in that encodes."""

    dropout: float = Field(ge=0, lt=1, description="Share of activations that training sets to 0")


class EncoderDecoder(Encoder):
    """A stand-in that encodes and writes."""

    decoder_layers: int = Field(ge=1, description="Layers of the decoder")


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
