"""Stage `kvqae-subjects`. Linked entities that can be shown: concrete or deceased, with images."""

from pathlib import Path

import pyarrow as pa

from trivium.core.stage import Context, run_stage
from trivium.core.tables import read_table, write_table
from trivium.formats.wikidata import WikidataFile
from trivium.kvqae.construction.linking import LINK_SCHEMA
from trivium.kvqae.construction.subjects import SUBJECT_SCHEMA, Subjects, add_subjects, read_concrete_types
from trivium.kvqae.knowledge_base.articles import KnowledgeBaseParameters


class SubjectsParameters(KnowledgeBaseParameters):
    """Section `kvqae.subjects`: the image properties are those of the knowledge base."""


def main(
    parameters: SubjectsParameters,
    context: Context,
    *,
    linked: Path = Path("data/kvqae/construction/linked.parquet"),
    wikidata: Path = Path("data/kvqae/sources/wikidata.jsonl"),
    kb_wikidata: Path = Path("data/kvqae/raw/wikidata.jsonl"),
    concrete_types: Path = Path("data/kvqae/sources/concrete_types.csv"),
    out: Path = Path("data/kvqae/construction/subjects.parquet"),
) -> dict[str, float]:
    """Write the linked mentions whose entity can be shown, with what is needed to find images and to rephrase.

    Args:
        parameters: section `kvqae.subjects`.
        context: of the harness.
        linked: the linked mentions.
        wikidata: the sources' entities and classes.
        kb_wikidata: the knowledge base's entities, for the names of its images.
        concrete_types: the list of types.
        out: table of `SUBJECT_SCHEMA`.
    """
    concrete = read_concrete_types(concrete_types)
    subjects = Subjects(WikidataFile(wikidata), WikidataFile(kb_wikidata), concrete, parameters.image_properties)
    kept, metrics = add_subjects(read_table(linked, LINK_SCHEMA.names).to_pylist(), subjects)
    write_table(out, pa.Table.from_pylist(kept, schema=SUBJECT_SCHEMA))
    return metrics | {"circular_classes": float(subjects.hierarchy.circular())}


if __name__ == "__main__":
    run_stage(main, "kvqae.subjects", SubjectsParameters, metrics="metrics/kvqae/subjects.json")
