"""What the stages of KVQAE cost."""

from trivium.commands.costs.kvqae_world import KvqaeWorld, kvqae_world
from trivium.commands.costs.row import Row, known
from trivium.commands.stage_models import Used
from trivium.kvqae.retrieval.bm25 import grid
from trivium.page.contents import ARTICLES, stage_of


def _features(used: Used, world: KvqaeWorld, cores: int, images: float) -> Row:
    """A cell, of as many as there are encoders: each decodes, and ArcFace's also searches for faces."""
    encoders = len(used("kvqae.image_encoders"))
    return Row(
        # without a GPU as many processes as run.workers
        memory=world.image_gib * min(known(used("run.workers"), cores), used("run.gpu_workers")),
        gpu_processes=used("run.gpu_workers"),
        disk=images * world.image_dimensions * 2e-9 / encoders,
        teraflop=images * world.image_teraflop / encoders,
        core_hours=images * 0.015 / 3600,  # decoding, and in one of three MTCNN's pyramid of images
    )


def _compared(used: Used, world: KvqaeWorld) -> float:
    """Images that RRT compares: those of validation and test, two thirds of the questions, and of their articles.

    The best passages of a list are of .45 as many articles that no other list has.
    """
    questions = world.viquae_questions * 2 / 3
    return questions + min(world.images, 0.45 * used("kvqae.rerankers.rrt.depth") * questions)


def _rrt(used: Used) -> bool:
    """Whether RRT re-ranks; where its features decide and are not there yet, it is counted."""
    return bool(used("kvqae.rrt.use"))


def _rerank(used: Used, world: KvqaeWorld) -> Row:
    """A mean cell: the text's network, and RRT's, of 2 M weights and 1 004 tokens; faces take none."""
    in_use, pairs = used("kvqae.rerankers"), world.viquae_questions * 2 / 3  # validation and test
    text = in_use["text"]["depth"] * used("kvqae.texts.pair_tokens") * 2 * world.text_parameters * 1e-12
    rrt = in_use["rrt"]["depth"] * (2 * used("kvqae.local_features.most") + 4) * 4e-6 if _rrt(used) else 0
    return Row(
        memory=max(
            4, 2 + world.images * 512 * 2 / 2**30
        ),  # the matrix of faces is mapped; its check touches every page
        disk=0.1,
        teraflop=pairs * (text + rrt) / len(in_use),
        core_hours=(0.012 + world.images * 512 * 1e-12) / len(in_use),
    )


def _bm25_seconds(passages: float) -> float:
    """A core's seconds for a question of a dozen words and its 100 hits.

    Measured: 4 ms among 5 000 passages. Among 12 million it is a tenth of a second.
    """
    return 0.002 + 2.9e-5 * passages**0.5


def kvqae_costs(used: Used, cores: int) -> dict[str, Row]:
    """A row a stage."""
    world = kvqae_world(used)
    compared = _compared(used, world)
    java = used("kvqae.lucene.heap_gib") + 2  # and Python beside it
    settings = len(grid(used("kvqae.bm25_search.k1_step"), used("kvqae.bm25_search.b_step")))
    page = ARTICLES["kvqae"]
    return {
        "kvqae-world": world.raw,
        "kvqae-triviaqa": Row(
            downloads=0.06 * world.downloaded,
            disk=0.01 + 0.12 * world.downloaded,
            memory=1,
            core_hours=0.002,
        ),
        "kvqae-base_models": Row(
            downloads=1.2 * world.downloaded,
            disk=world.text_parameters * 1.5e-8,
            memory=3,
            core_hours=0.05,  # the sample trains stand-ins
        ),
        "kvqae-sources": Row(
            # TriviaQA .64 GB, then previews of some 10 000 categories × 50 files; a guess
            downloads=30 * world.downloaded,
            disk=0.01 + 60 * world.downloaded,
            memory=2,
            core_hours=0.002 + 20 * world.downloaded,  # mostly waiting for the API
        ),
        "kvqae-mention_model": Row(
            disk=0.003,
            memory=1,
            core_hours=0.004,
        ),
        "kvqae-mentions": Row(
            disk=0.05,
            memory=1.5,
            core_hours=0.0015 + 0.1 * world.downloaded,
        ),
        "kvqae-link": Row(
            disk=0.05,
            memory=2,
            core_hours=world.articles / 10000 / 3600,
        ),
        "kvqae-subjects": Row(
            disk=0.05,
            memory=2,
            core_hours=0.01,
        ),
        "kvqae-candidate_images": Row(
            disk=0.01,
            memory=1,
            core_hours=0.005,
        ),
        "kvqae-generate": Row(
            disk=0.01,
            memory=1,
            core_hours=0.001,
        ),
        "kvqae-annotation_tasks": Row(
            memory=1,
            disk=world.viquae_questions * 6e-5,
            core_hours=0.01,
        ),
        "kvqae-annotations": Row(
            memory=1,
            core_hours=0.005,
        ),
        "kvqae-rebuild": Row(
            memory=2,
            disk=world.viquae_questions * 1e-4,
            core_hours=0.005 + world.articles * 1e-8,
        ),
        "kvqae-knowledge_base": Row(
            disk=world.articles * 1.5e-6,
            memory=2 + world.articles * 3e-7,
            core_hours=world.articles / 4000 / 3600,
        ),
        "kvqae-passages": Row(
            disk=world.passages * world.words * 3e-9,
            memory=2,
            # measured: 3 200 articles of 800 words a second, long ones slower
            core_hours=world.articles / 1500 / 3600,
        ),
        "kvqae-bm25_index": Row(
            disk=world.passages * world.words * 8e-9,
            memory=java,
            core_hours=world.passages / 3000 / 3600,
        ),
        # the grid asks validation, a third of the questions, anew for each setting
        "kvqae-bm25_search": Row(
            memory=java,
            disk=world.viquae_questions * (1 + settings / 3) * 5e-6,
            core_hours=world.viquae_questions * (1 + settings / 3) * _bm25_seconds(world.kb_passages) / 3600,
        ),
        "kvqae-bm25_triviaqa": Row(
            memory=java,
            disk=world.triviaqa_questions * 5e-6,
            core_hours=world.triviaqa_questions * _bm25_seconds(world.passages) / 3600,
        ),
        # of two cells
        "kvqae-training_pairs": Row(
            memory=2 + world.passages * world.words * 6e-9,
            disk=world.triviaqa_questions / 2 * 1e-6,
            core_hours=world.triviaqa_questions / 2 * 100 / 20000 / 3600,
        ),
        "kvqae-relevance": Row(
            memory=2 + world.kb_passages * world.words * 6e-9,
            core_hours=world.viquae_questions * 600 / 20000 / 3600,
        ),
        "kvqae-published_checkpoints": Row(
            # the mean of two cells: DPR's encoders, and the reader; with the downloads, which stay until it is done
            downloads=used("kvqae.published_checkpoints.use") * 0.66,
            disk=used("kvqae.published_checkpoints.use") * 1.35,
            memory=2,
            core_hours=0.003,
        ),
        "kvqae-dpr_pretrain": Row(
            # Texts of all passages retrieved, 6 bytes a word; twice, while they are joined. So also for
            # re-ranker and reader.
            memory=6
            + (1 - used("kvqae.published_checkpoints.use"))
            * 2
            * min(world.passages, world.triviaqa_questions * used("kvqae.training_pairs.depth"))
            * world.words
            * 6e-9,
            # both encoders with AdamW's moments, twice while one is written
            disk=2 * world.text_parameters * 1.6e-8 + 1,
            teraflop=(1 - used("kvqae.published_checkpoints.use"))
            * min(
                known(used("kvqae.dpr_pretrain.max_steps"), 1e12),
                used("kvqae.dpr_pretrain.epochs") * world.triviaqa_questions / used("kvqae.dpr_pretrain.batch_size"),
            )
            * used("kvqae.dpr_pretrain.batch_size")
            * 3
            * used("kvqae.dpr_pretrain.max_tokens")
            * 8
            * world.text_parameters
            * 1e-12,
        ),
        "kvqae-dpr_finetune": Row(
            memory=6,
            disk=2 * world.text_parameters * 1.6e-8 + 1,
            teraflop=min(
                known(used("kvqae.dpr_finetune.max_steps"), 1e12),
                used("kvqae.dpr_finetune.epochs") * world.viquae_questions / 3 / used("kvqae.dpr_finetune.batch_size"),
            )
            * used("kvqae.dpr_finetune.batch_size")
            * 3
            * used("kvqae.dpr_finetune.max_tokens")
            * 8
            * world.text_parameters
            * 1e-12,
        ),
        "kvqae-encode_texts": Row(
            memory=4,
            disk=world.kb_passages * world.text_dimension * 2e-9,
            teraflop=world.kb_passages
            * min(used("kvqae.encode_texts.max_tokens"), 1.5 * world.words)
            * 2
            * world.text_parameters
            * 1e-12,
        ),
        "kvqae-dense_search": Row(
            memory=2 + world.kb_passages * world.text_dimension * 4 / 2**30,
            teraflop=world.kb_passages * world.text_dimension * 2 * world.viquae_questions * 1e-12,
            core_hours=world.kb_passages / 500000 / 3600,
        ),
        "kvqae-kb_features": _features(used, world, cores, world.images),
        "kvqae-question_features": _features(used, world, cores, world.viquae_questions),
        "kvqae-image_search": Row(
            memory=2 + world.images * 2048 * 4 / 2**30,
            core_hours=0.01 + world.images * world.viquae_questions * 3584 * 2e-11 / 3600,
        ),
        "kvqae-name_search": Row(  # titles of a dozen tokens by a text tower of 38 M weights
            memory=2 + world.images * 512 * 4 / 2**30,
            disk=world.images * 512 * 2e-9,
            teraflop=world.images * 12 * 2 * 38e6 * 1e-12,
            core_hours=0.01 + world.images * world.viquae_questions * 512 * 2e-11 / 3600,
        ),
        "kvqae-brought_runs": Row(memory=2 + world.kb_passages * 8e-9, core_hours=0.01),
        "kvqae-tune_fusion": Row(
            memory=2,
            core_hours=0.02,
        ),
        "kvqae-fuse": Row(
            memory=2,
            core_hours=0.02,
        ),
        "kvqae-evaluate": Row(
            memory=3,
            core_hours=0.05,
        ),
        "kvqae-lexical_overlap": Row(
            memory=2 + world.kb_passages * world.words * 6e-9,
            core_hours=0.02,
        ),
        "kvqae-rerank_base": Row(
            memory=2,
            disk=world.text_parameters * 4e-9 + 0.1,
        ),
        "kvqae-rerank_pretrain": Row(
            memory=6
            + 2
            * min(world.passages, world.triviaqa_questions * used("kvqae.rerank_pretrain.depth"))
            * world.words
            * 6e-9,
            disk=world.text_parameters * 1.6e-8 + 1,
            teraflop=used("kvqae.rerank_pretrain.steps")
            * used("kvqae.rerank_pretrain.questions")
            * used("kvqae.rerank_pretrain.passages")
            * used("kvqae.rerank_pretrain.max_tokens")
            * 6
            * world.text_parameters
            * 1e-12,
        ),
        "kvqae-rerank_finetune": Row(
            memory=6,
            disk=world.text_parameters * 1.6e-8 + 1,
            teraflop=used("kvqae.rerank_finetune.steps")
            * used("kvqae.rerank_finetune.questions")
            * used("kvqae.rerank_finetune.passages")
            * used("kvqae.rerank_finetune.max_tokens")
            * 6
            * world.text_parameters
            * 1e-12,
        ),
        "kvqae-rerank": _rerank(used, world),
        "kvqae-rrt": Row(
            downloads=_rrt(used) * world.downloaded * 0.03,
            memory=3,
            disk=0.1,
            core_hours=0.02,
        ),
        "kvqae-compared_images": Row(
            memory=2,
            core_hours=0.005,
        ),
        "kvqae-local_features": Row(  # a cell of two: the questions', and the knowledge base's
            memory=3,
            # shards, then joined; float16
            disk=_rrt(used) * compared / 2 * (used("kvqae.local_features.most") * 130 + 4096) * 2 * 2 / 1e9,
            core_hours=_rrt(used) * compared / 2 * 0.01 / 3600,
        ),
        "kvqae-tune_reranking": Row(
            memory=2,
            core_hours=0.01,
        ),
        "kvqae-rerank_fuse": Row(
            memory=2,
            core_hours=0.01,
        ),
        "kvqae-evaluate_reranking": Row(
            memory=3,
            core_hours=0.02,
        ),
        "kvqae-reader_pretrain": Row(
            memory=6
            + (1 - used("kvqae.published_checkpoints.use"))
            * 2
            * min(world.passages, world.triviaqa_questions * used("kvqae.reader_pretrain.depth"))
            * world.words
            * 6e-9,
            disk=world.text_parameters * 1.6e-8 + 1,
            teraflop=(1 - used("kvqae.published_checkpoints.use"))
            * used("kvqae.reader_pretrain.steps")
            * used("kvqae.reader_pretrain.questions")
            * (used("kvqae.reader_pretrain.relevant") + used("kvqae.reader_pretrain.irrelevant"))
            * used("kvqae.reader_pretrain.max_tokens")
            * 6
            * world.text_parameters
            * 1e-12,
        ),
        "kvqae-reader_finetune": Row(
            memory=6,
            disk=world.text_parameters * 1.6e-8 + 1,
            teraflop=used("kvqae.reader_finetune.steps")
            * used("kvqae.reader_finetune.questions")
            * (used("kvqae.reader_finetune.relevant") + used("kvqae.reader_finetune.irrelevant"))
            * used("kvqae.reader_finetune.max_tokens")
            * 6
            * world.text_parameters
            * 1e-12,
        ),
        "kvqae-read": Row(
            memory=6,
            disk=0.1,
            # A reader encodes a pair once for all rows: 3 lists by the zero-shot one, 4 and 1 by the two
            # few-shot ones of a seed; and on validation, for the rows whose number of passages is swept, 2 lists by a
            # few-shot one of each seed.
            teraflop=(
                (3 + 5 * len(used("kvqae.read.seeds"))) * world.viquae_questions / 3 * 5
                + 2
                * len(used("kvqae.read.seeds"))
                * used("kvqae.read.sweep_questions")
                * max(used("kvqae.read.sweep_passages"))
            )
            * used("kvqae.read.max_tokens")
            * 2
            * world.text_parameters
            * 1e-12,
        ),
        **dict.fromkeys((stage_of("kvqae", part) for part in (*page.parts, *page.families)), Row(memory=1)),
        "kvqae-read_prompted": Row(  # the endpoint computes elsewhere
            memory=2 + world.viquae_questions * world.words * 6e-8,
            disk=0.01,
            core_hours=world.viquae_questions * 0.05 / 3600,
        ),
        "kvqae-difficulty": Row(
            memory=2,
            core_hours=0.003,
        ),
    }
