"""How large the sample world is, and its questions: what both stages that write parts of it are told."""

from pydantic import Field

from sample.kvqae.entity_world import World, build_world
from trivium.core.errors import BadInput
from trivium.core.parameters import Parameters


class Sizes(Parameters):
    """Questions a split of ViQuAE."""

    train: int = Field(ge=1, description="Training questions")
    validation: int = Field(ge=1, description="Validation questions")
    test: int = Field(ge=1, description="Test questions")


class SampleSizes(Parameters):
    """All that the entities, articles and questions of the sample world follow from."""

    seed: int = Field(ge=0, le=998, description="World seed: other seeds have other entities and other faces")
    articles: int = Field(ge=50, description="Articles with an image: the knowledge base")
    imageless: int = Field(ge=0, description="Articles without image: in Wikipedia, not in the knowledge base")
    sentences: int = Field(ge=4, le=40, description="About how many sentences an article has")
    questions: Sizes = Field(description="ViQuAE's questions a split")
    triviaqa: int = Field(ge=1, description="Most TriviaQA training questions; none about a fact that ViQuAE asks for")


def sample_world(sizes: SampleSizes) -> World:
    """The sample world of a seed.

    Raises:
        BadInput: the articles hold too few facts for that many questions.
    """
    world = build_world(
        sizes.seed,
        articles=sizes.articles,
        imageless=sizes.imageless,
        sentences=sizes.sentences,
        viquae=sizes.questions.model_dump(),
        triviaqa=sizes.triviaqa,
    )
    for split, asked in world.viquae.items():
        wanted = getattr(sizes.questions, split)
        if len(asked) < wanted:
            raise BadInput(
                f"only {len(asked)} {split} questions can be asked about {sizes.articles} articles",
                field=f"kvqae.world.questions.{split}",
                got=wanted,
                expected="fewer questions or more articles",
            )
    return world
