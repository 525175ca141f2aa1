"""A retrieval model with its gallery: ranked captions of pictures, and ranks both ways (decorrelation.md §3, §4)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trivium.decorrelation.models.interface import RetrievalModel
from trivium.decorrelation.retrieval.caption_search import top_captions
from trivium.decorrelation.retrieval.encoding import ReadPictures, Vectors, encode_pictures, scaled_pictures
from trivium.decorrelation.retrieval.gallery import Captions
from trivium.decorrelation.retrieval.second_stage import match_captions, match_pictures, ranks_in_two_stages
from trivium.errors import BadInput
from trivium.files.image_shards import Images
from trivium.measures.recall import Ranks, ranks_of_embeddings
from trivium.vision.neighbours import Ids, Scores

LISTS = pa.schema([("query", pa.string()), ("captions", pa.list_(pa.int64())), ("scores", pa.list_(pa.float32()))])


@dataclass(frozen=True)
class PictureSet:
    """Pictures that are asked.

    Attributes:
        folder: their image shards.
        names: in the shards.
        queries: what they are called in the results.
        owners: ids of the pictures that each was before something was painted; their captions are its own.
    """

    folder: Path
    names: tuple[str, ...]
    queries: tuple[str, ...]
    owners: tuple[int, ...]


@dataclass(frozen=True)
class Retriever:
    """A model with its gallery.

    Attributes:
        model: on its device, in evaluation mode.
        captions: of all splits.
        gallery: (captions, d).
        candidates: how many are scored again by a model with a second stage.
        batch_size: pictures at a time.
        read: gives the pictures.
    """

    model: RetrievalModel
    captions: Captions
    gallery: Vectors
    candidates: int
    batch_size: int
    read: ReadPictures = scaled_pictures
    _encoded: dict[PictureSet, Vectors] = field(default_factory=dict)

    def lists(self, asked: PictureSet, depth: int) -> pa.Table:
        """The best `depth` captions of each picture out of all, as rows of `LISTS`; ties by lower caption id.

        Raises:
            BadInput: more captions asked for than there are, or than are scored again.
        """
        if not asked.names:
            return LISTS.empty_table()
        if self.model.match is None:
            scores, rows = top_captions(self._vectors(asked), self.gallery, depth)
        else:
            if self.candidates < depth:
                raise BadInput("fewer candidates than captions retrieved", field="candidates", got=self.candidates,
                               expected=f"at least {depth}")  # fmt: skip
            first = top_captions(
                self._vectors(asked), self.gallery, max(depth, min(self.candidates, len(self.gallery)))
            )
            scores, rows = self._matched_captions(asked, self.captions.texts, first)
        columns = [asked.queries, list(self.captions.ids[rows[:, :depth]]), list(scores[:, :depth])]
        return pa.table(dict(zip(LISTS.names, columns, strict=True)), schema=LISTS)

    def image_to_text(self, asked: PictureSet) -> Ranks:
        """Rank of each picture's best own caption among the test captions."""
        if not asked.names:
            return np.zeros(0, np.int64)
        texts, vectors, owners = self._test_captions()
        pictures, own = self._vectors(asked), np.array(asked.owners, np.int64)
        ranks = ranks_of_embeddings(pictures, vectors, own, owners)
        if self.model.match is None:
            return ranks
        first = top_captions(pictures, vectors, min(self.candidates, len(vectors)))
        return ranks_in_two_stages(ranks, self._matched_captions(asked, texts, first), own, owners)

    def text_to_image(self, asked: PictureSet) -> Ranks:
        """Rank of each test caption's picture among the pictures."""
        texts, vectors, owners = self._test_captions()
        pictures, own = self._vectors(asked), np.array(asked.owners, np.int64)
        ranks = ranks_of_embeddings(vectors, pictures, owners, own)
        if self.model.match is None:
            return ranks
        first = top_captions(vectors, pictures, min(self.candidates, len(pictures)))
        again = match_pictures(self.model, Images(asked.folder), asked.names, texts, first, self.batch_size, self.read)
        return ranks_in_two_stages(ranks, again, owners, own)

    def _test_captions(self) -> tuple[list[str], Vectors, NDArray[np.int64]]:
        places = np.flatnonzero(self.captions.test)
        texts = [self.captions.texts[place] for place in places]
        return texts, self.gallery[places], self.captions.pictures[places]

    def _matched_captions(
        self, asked: PictureSet, texts: Sequence[str], first: tuple[Scores, Ids]
    ) -> tuple[Scores, Ids]:
        return match_captions(self.model, Images(asked.folder), asked.names, texts, first, self.batch_size, self.read)

    def _vectors(self, asked: PictureSet) -> Vectors:
        if asked not in self._encoded:
            self._encoded[asked] = encode_pictures(
                self.model, Images(asked.folder), asked.names, self.batch_size, self.read
            )
        return self._encoded[asked]
