"""Questions on annotated texts by the paper's protocol (its §2): tasks for Label Studio, and its export back.

Of a sentence one frame F and one of its elements E are drawn. Whoever writes the question sees F, E, which is the
answer, and the frame's other elements C, which give context; the sentence and the trigger stay hidden, so that words
are chosen freely. Coreference is not annotated here: no question has a chain (f1).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trivium.core.errors import BadInput
from trivium.formats.framed_texts import AnnotatedText, Example
from trivium.formats.label_studio import read_export
from trivium.measures.french import words

_CONTROL = "question"
_INSTRUCTIONS = (
    "Écris une question sur la relation ci-dessous, dont la réponse est l'élément demandé. Les autres éléments peuvent "
    "servir de contexte. La phrase n'est pas montrée : choisis librement les mots."
)
CONFIG = f"""<View>
  <Header value="{_INSTRUCTIONS}"/>
  <Header value="Cadre"/>
  <Text name="frame" value="$frame"/>
  <Header value="Élément demandé et réponse"/>
  <Text name="answer" value="$answer"/>
  <Header value="Autres éléments"/>
  <Text name="context" value="$context"/>
  <TextArea name="{_CONTROL}" toName="frame" required="true" maxSubmissions="1" placeholder="Question"/>
</View>
"""


def question_tasks(texts: Sequence[AnnotatedText], seed: int) -> list[dict[str, Any]]:
    """A task for every element of every frame, in random order, in Label Studio's import format."""
    tasks = [
        {
            "text_id": text.id,
            "number": number,
            "element": element.name,
            "start": element.span.start,
            "end": element.span.end,
            "frame": frame.frame,
            "answer": f"{element.name} : {element.span.of(text.text)}",
            "context": " ; ".join(
                f"{other.name} : {other.span.of(text.text)}" for other in frame.elements if other != element
            ),
        }
        for text in texts
        for number, frame in enumerate(text.frames)
        for element in frame.elements
    ]
    return [{"data": tasks[place]} for place in np.random.default_rng(seed).permutation(len(tasks))]


def read_questions(export: Path, texts: Sequence[AnnotatedText]) -> list[Example]:
    """The questions of an export, one a task and annotator.

    An element counts as context where at least half of its words are in the question.

    Raises:
        BadInput: see `read_export`; or a task is of another text, frame or element than there are, or has no question.
    """
    places = {
        tuple(map(str, (text.id, number, element.name, element.span.start, element.span.end))): (text, frame, element)
        for text in texts
        for number, frame in enumerate(text.frames)
        for element in frame.elements
    }
    examples = []
    for task in read_export(export, {_CONTROL: "text"}):
        got = {name: str(task.data.get(name)) for name in ("text_id", "number", "element", "start", "end")}
        if tuple(got.values()) not in places:
            raise BadInput("no such element in these texts", file=export, row=task.row, field="data", got=got)
        text, frame, answer = places[tuple(got.values())]
        for annotation in task.annotations:
            question = " ".join(annotation.controls.get(_CONTROL, ())).strip()
            if not question:
                raise BadInput("no question", file=export, row=task.row, field=f"{annotation.field}.result")
            said = set(words(question))
            context = {
                element.name
                for element in frame.elements
                if element != answer and 2 * len(said & (own := set(words(element.span.of(text.text))))) >= len(own) > 0
            }
            examples.append(
                Example(
                    id=f"{text.id}-{got['number']}-{answer.name}-{answer.span.start}-{annotation.annotator}",
                    text=text,
                    question=question,
                    answer=answer.span,
                    frame=frame,
                    answer_element=answer.name,
                    context_elements=tuple(sorted(context - {answer.name})),
                    chain=(),
                )
            )
    if not examples:
        raise BadInput("no question", file=export, expected="annotated tasks")
    return examples
