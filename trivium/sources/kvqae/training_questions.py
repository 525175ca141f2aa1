"""TriviaQA's training questions, without those that ViQuAE's were made from (kvqae.md §2).

The released splits were told apart by id, and TriviaQA asks some questions twice. Here, where raw files are written, is
the one place that every training is behind.
"""

from pathlib import Path

from trivium.core.tables import read_json_lines, write_json_lines
from trivium.formats.questions import read_questions
from trivium.kvqae.source_questions import SourceQuestions


def leave_out_sources(triviaqa: Path, viquae: Path, questions: float) -> dict[str, float]:
    """Take those questions out of `train.jsonl` that a question of ViQuAE, of any split, was made from.

    Args:
        triviaqa: the folder of TriviaQA's questions. Where nothing is left out its files stay as they are; else the
            file is written anew, and what it was linked to stays as it is.
        viquae: the folder of ViQuAE's questions.
        questions: how many there were at first; an earlier call may have been killed after it had left some out.

    Returns:
        `triviaqa_train`, how many are left, and `triviaqa_train_seen_in_viquae`, how many are not.

    Raises:
        BadInput: see `read_questions`.
    """
    train = triviaqa / "train.jsonl"
    sources = SourceQuestions.of(viquae)
    kept = {question.id for question in read_questions(train) if question.text not in sources}
    records = [record for _, record in read_json_lines(train)]
    if len(kept) < len(records):
        write_json_lines(train, (record for record in records if record["id"] in kept))
    return {"triviaqa_train": float(len(kept)), "triviaqa_train_seen_in_viquae": questions - len(kept)}
