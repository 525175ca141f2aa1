"""First module of stage `complexity-factors`. Dependency syntax of the evaluation texts: gold, stanza or spaCy."""

import sys
from pathlib import Path

from trivium.complexity.syntax import SyntaxParameters, f4_agreement, parse_texts, placed_words
from trivium.core.errors import BadInput
from trivium.core.stage import stage
from trivium.formats.conllu import read_conllu, write_conllu
from trivium.formats.frame_corpora import read_examples, read_texts
from trivium.measures.frames import attachment_scores

PARSERS = ("conllu", "stanza", "spacy")
TEXTS, QUESTIONS, GOLD = "frames/test.jsonl", "questions.jsonl", "syntax.conllu"


@stage("complexity.syntax", metrics="metrics/complexity/syntax.json")
def main(
    parameters: SyntaxParameters,
    *,
    calor: Path = Path("data/complexity/raw/calor"),
    out: Path = Path("data/complexity/syntax.conllu"),
) -> dict[str, float]:
    """Write the syntax of `calor`/frames/test.jsonl; a parser's is compared to `calor`/syntax.conllu if there.

    Metrics: `parser_*` says which was used; `words_f1`, `uas`, `las`, `upos`, `lemmas` are the agreement with the gold,
    `f4_kappa` is Cohen's κ of factor f4 by either, over the `f4_compared` questions for which both find a path.
    """
    texts = {text.id: text.text for text in read_texts(calor / TEXTS)}
    path = calor / GOLD
    gold = read_conllu(path, texts) if path.exists() else None
    metrics = {f"parser_{name}": float(name == parameters.parser) for name in PARSERS}
    if parameters.parser != "conllu":
        syntax = parse_texts(texts, parameters)
        if gold is not None:
            metrics |= attachment_scores(placed_words(syntax), placed_words(gold.sentences))
            if (calor / QUESTIONS).is_file():
                examples = read_examples(calor / QUESTIONS, calor / TEXTS)
                metrics |= f4_agreement(examples, syntax, gold.sentences)
            print(f"{parameters.parser}: " + ", ".join(f"{name} {value:.3f}" for name, value in metrics.items()))
        if parameters.parser == "spacy" and parameters.world == "french_framenet":
            print("warning: spaCy's French pipelines were trained on these sentences, the Sequoia's", file=sys.stderr)
            metrics["parser_trained_on_texts"] = 1.0
    elif gold is not None:
        syntax = gold.sentences
        metrics["empty_nodes"] = float(gold.empty_nodes)
    else:
        raise BadInput("no gold syntax", file=path, expected="CoNLL-U, or complexity.syntax.parser: stanza or spacy")
    if without := [identifier for identifier in texts if not syntax.get(identifier)]:
        raise BadInput("texts without syntax", file=path if gold else calor / TEXTS, got=without[0])
    write_conllu(out, syntax, texts)
    sentences = [sentence for of_text in syntax.values() for sentence in of_text]
    words = sum(len(sentence.tokens) for sentence in sentences)
    return metrics | {"texts": float(len(texts)), "sentences": float(len(sentences)), "words": float(words)}
