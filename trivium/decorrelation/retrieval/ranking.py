"""A retrieval model with its gallery: ranked captions of pictures, and ranks both ways (decorrelation.md §3, §4)."""

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.core.errors import BadInput
from trivium.decorrelation.retrieval.caption_search import top_captions
from trivium.decorrelation.retrieval.encoding import Vectors
from trivium.decorrelation.retrieval.gallery import Captions
from trivium.decorrelation.retrieval.second_stage import match_captions, match_pictures, ranks_in_two_stages
from trivium.decorrelation.retrieval.sharded_model import EncodedPictures, ShardedModel
from trivium.measures.recall import Ranks, ranks_of_embeddings

LISTS = pa.schema([("query", pa.string()), ("captions", pa.list_(pa.int64())), ("scores", pa.list_(pa.float32()))])


@dataclass(frozen=True)
class PictureSet:
    """Pictures that are asked.

    Attributes:
        name: of the set.
        folder: their image shards.
        names: in the shards.
        queries: what they are called in the results.
        owners: ids of the pictures that each was before something was painted; their captions are its own.
    """

    name: str
    folder: Path
    names: tuple[str, ...]
    queries: tuple[str, ...]
    owners: tuple[int, ...]


@dataclass(frozen=True)
class Retriever:
    """A model with its gallery.

    Attributes:
        model: trained.
        captions: of all splits.
        gallery: (captions, d).
        candidates: how many are scored again by a model with a second stage.
    """

    model: ShardedModel
    captions: Captions
    gallery: Vectors
    candidates: int
    _encoded: dict[PictureSet, EncodedPictures] = field(default_factory=dict)

    def lists(self, asked: PictureSet, depth: int) -> pa.Table:
        """The best `depth` captions of each picture out of all, as rows of `LISTS`; ties by lower caption id.

        Raises:
            BadInput: more captions asked for than there are, or than are scored again.
        """
        if not asked.names:
            return LISTS.empty_table()
        pictures = self._pictures(asked)
        if not pictures.kept:
            scores, rows = top_captions(pictures.vectors, self.gallery, depth)
        else:
            if self.candidates < depth:
                raise BadInput("fewer candidates than captions retrieved", field="candidates", got=self.candidates,
                               expected=f"at least {depth}")  # fmt: skip
            first = top_captions(pictures.vectors, self.gallery, max(depth, min(self.candidates, len(self.gallery))))
            match = partial(self.model.match, f"lists-{asked.name}", pictures)
            scores, rows = match_captions(match, self.captions.texts, first)
        columns = [asked.queries, list(self.captions.ids[rows[:, :depth]]), list(scores[:, :depth])]
        return pa.table(dict(zip(LISTS.names, columns, strict=True)), schema=LISTS)

    def image_to_text(self, asked: PictureSet) -> Ranks:
        """Rank of each picture's best own caption among the test captions."""
        if not asked.names:
            return np.zeros(0, np.int64)
        texts, vectors, owners = self._test_captions()
        pictures, own = self._pictures(asked), np.array(asked.owners, np.int64)
        ranks = ranks_of_embeddings(pictures.vectors, vectors, own, owners)
        if not pictures.kept:
            return ranks
        first = top_captions(pictures.vectors, vectors, min(self.candidates, len(vectors)))
        match = partial(self.model.match, f"image_to_text-{asked.name}", pictures)
        return ranks_in_two_stages(ranks, match_captions(match, texts, first), own, owners)

    def text_to_image(self, asked: PictureSet) -> Ranks:
        """Rank of each test caption's picture among the pictures."""
        texts, vectors, owners = self._test_captions()
        pictures, own = self._pictures(asked), np.array(asked.owners, np.int64)
        ranks = ranks_of_embeddings(vectors, pictures.vectors, owners, own)
        if not pictures.kept:
            return ranks
        first = top_captions(vectors, pictures.vectors, min(self.candidates, len(own)))
        match = partial(self.model.match, f"text_to_image-{asked.name}", pictures)
        return ranks_in_two_stages(ranks, match_pictures(match, len(own), texts, first), owners, own)

    def _test_captions(self) -> tuple[list[str], Vectors, NDArray[np.int64]]:
        places = np.flatnonzero(self.captions.test)
        texts = [self.captions.texts[place] for place in places]
        return texts, self.gallery[places], self.captions.pictures[places]

    def _pictures(self, asked: PictureSet) -> EncodedPictures:
        if asked not in self._encoded:
            self._encoded[asked] = self.model.encode_pictures(asked.name, asked.folder, asked.names)
        return self._encoded[asked]
