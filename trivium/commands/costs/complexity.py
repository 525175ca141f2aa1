"""What the stages of complexity cost."""

from dataclasses import dataclass

from trivium.commands.costs.row import Row, chosen, known
from trivium.commands.stage_models import Used
from trivium.page.contents import ARTICLES, stage_of


@dataclass(frozen=True)
class Models:
    """How large the parser and the readers are."""

    encoder_parameters: float
    reader_parameters: float
    reader_gb: float
    downloaded: float


SAMPLE = Models(
    encoder_parameters=400_000,
    reader_parameters=1_000_000,  # MiniLM's three layers are the largest
    reader_gb=0.1,
    downloaded=0,
)
HUB = Models(
    encoder_parameters=303_000_000,
    reader_parameters=2_000_000_000,  # the mean of 335 M, 738 M, 783 M, 1.2 B and 7 B
    reader_gb=4,
    downloaded=26,
)


def complexity_costs(used: Used) -> dict[str, Row]:
    """A row a stage."""
    models = chosen(used, "complexity_models", SAMPLE, HUB)
    fquad_questions = chosen(used, "fquad", lambda: used("complexity.world.train"), lambda: 20_731)()
    calor_questions = chosen(used, "calor", lambda: used("complexity.world.evaluation"), lambda: 1821)()
    return {
        "complexity-world": Row(
            disk=0.05,
            memory=1,
            core_hours=0.01,
        ),
        "complexity-base_models": Row(
            downloads=models.downloaded,
            disk=1.3 * models.downloaded + 0.2,  # pickled weights lie beside what is made of them
            memory=4,
            core_hours=0.005,
        ),
        "complexity-syntax": Row(
            memory=4,
            disk=1.2,  # stanza's French models
            core_hours=0.05,  # stanza: about 500 words a second on a core
        ),
        "complexity-frame_parser": Row(
            memory=3,
            disk=models.encoder_parameters * 2e-8 + 0.1,
            teraflop=used("complexity.frame_parser.steps")
            * (used("complexity.frame_parser.windows") + used("complexity.frame_parser.frames"))
            * 32
            * 6
            * models.encoder_parameters
            * 1e-12,
            core_hours=0.015,  # the sample is bound by overhead: 57 core-seconds
        ),
        "complexity-annotate": Row(
            memory=3,
            disk=0.05,
            # 5 sentences a context, each read twice
            teraflop=fquad_questions / 2.5 * 5 * 2 * 32 * 2 * models.encoder_parameters * 1e-12,
            core_hours=0.002,
        ),
        # counted with CamemBERT's settings
        "complexity-finetune": Row(
            memory=6,
            disk=2 * models.reader_gb,
            teraflop=min(
                known(used("complexity.finetune.models.camembert.max_steps"), 1e12),
                used("complexity.finetune.models.camembert.epochs")
                * fquad_questions
                / used("complexity.finetune.models.camembert.batch_size"),
            )
            * used("complexity.finetune.models.camembert.batch_size")
            * used("complexity.finetune.models.camembert.max_tokens")
            * 6
            * models.reader_parameters
            * 1e-12,
            core_hours=0.01,
        ),
        "complexity-answer": Row(
            memory=6,
            teraflop=calor_questions
            * used("complexity.finetune.models.camembert.max_tokens")
            * 2
            * models.reader_parameters
            * 1e-12,
            core_hours=0.004,
        ),
        # without the endpoints
        "complexity-prompt": Row(
            memory=1,
            disk=0.01,
            core_hours=0.01,
        ),
        "complexity-score": Row(
            memory=2,
            core_hours=0.01,
        ),
        "complexity-judgements": Row(
            memory=1,
            core_hours=0.002,
        ),
        "complexity-factors": Row(
            memory=1,
            core_hours=0.002,
        ),
        "complexity-validate": Row(
            memory=1,
            core_hours=0.002,
        ),
        "complexity-simulate": Row(
            memory=1,
            # 0.04 s an analysis of 5 models, 1 200 examples; 0.045 s as large as the paper's; 7 factors, and none
            core_hours=(
                0.04 * 3 * used("complexity.simulate.simulations")
                + (0.04 + 0.045)
                * used("complexity.simulate.sensitivity.simulations")
                * 7
                * (1 + len(used("complexity.simulate.sensitivity.planted")))
            )
            / 3600,
        ),
        "complexity-partition": Row(
            memory=1,
            core_hours=0.002,
        ),
        "complexity-difficulty": Row(
            memory=2,
            core_hours=0.003,
        ),
        **dict.fromkeys((stage_of("complexity", part) for part in ARTICLES["complexity"].parts), Row(memory=1)),
    }
