"""The readers that were fine-tuned on ViQuAE: as those that were not, but for their place."""

from trivium.commands.sharing.kinds.passage_reader import PassageReader


class PassageReaderTuned(PassageReader):
    """One a loss and seed."""

    name, pattern = "passage_reader_tuned", "models/kvqae/reader/*/seed-*"
