"""Photographs that the sample's Re-Ranking Transformer is trained on, in place of GLDv2's landmarks.

Most show subjects that are in no world: things of every kind, and people. Some show things that the knowledge base
has articles about, in other photographs than its own and the questions': the overlap that GLDv2 has with ViQuAE.
"""

from collections.abc import Sequence

from sample.kvqae.entities import Entity
from sample.kvqae.write import Picture
from sample.render.things import THINGS

OUTSIDERS = 15 * 10**8  # identities that no world has (below 10⁹), nor the encoders' training (from 10⁹ on)
OTHER_VIEWS = 10**4  # photographs from here on are neither the knowledge base's nor a question's


def choose_photographs(known: Sequence[Entity], *, landmarks: int, persons: float, views: int) -> dict[Picture, str]:
    """Choose what to draw, `views` photographs of each landmark; returns the landmark of each photograph.

    Landmarks are `known` things of the knowledge base, and others, of which the share `persons` in [0, 1] are people.
    """
    people, kinds = round(persons * landmarks), list(THINGS)
    subjects = [
        ("person" if number < people else kinds[number % len(kinds)], OUTSIDERS + number, 0)
        for number in range(landmarks)
    ]
    subjects += [(*entity.picture, OTHER_VIEWS) for entity in known if entity.picture]
    return {
        Picture(f"{landmark}_{view}.jpg", kind, identity, first + view): str(landmark)
        for landmark, (kind, identity, first) in enumerate(subjects)
        for view in range(views)
    }
