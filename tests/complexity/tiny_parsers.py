"""Gold French trees, and parsers of stanza and spaCy trained on them for a moment, saved as the published ones are."""

import io
import json
import logging
import random
from contextlib import redirect_stderr, redirect_stdout

from trivium.formats.conllu import Sentence, Token, write_conllu
from trivium.formats.framed_texts import Span

SUBJECTS = [("Le", "roi"), ("La", "reine"), ("Le", "consul"), ("La", "cité")]
OBJECTS = [("le", "temple"), ("la", "ville"), ("l'", "or"), ("l'", "épave")]
OWNERS = ["roi", "pays", "consul", "temple"]
VERBS = [("perdit", "perdre"), ("découvre", "découvrir"), ("garde", "garder")]


def tree(rng):
    """Words as (form, lemma, part of speech, head, relation); `du` is the words de and le."""
    (article, subject), (other, thing), (verb, lemma) = (rng.choice(each) for each in (SUBJECTS, OBJECTS, VERBS))
    owner = rng.choice([None, *OWNERS])
    root = 6 if owner else 3
    words = [(article, "le", "DET", 2, "det"), (subject, subject, "NOUN", root, "nsubj")]
    if owner:
        words += [("de", "de", "ADP", 5, "case"), ("le", "le", "DET", 5, "det"), (owner, owner, "NOUN", 2, "nmod")]
    words += [(verb, lemma, "VERB", 0, "root"), (other, "le", "DET", root + 2, "det")]
    return [*words, (thing, thing, "NOUN", root, "obj"), (".", ".", "PUNCT", root, "punct")]


def make_gold(count, seed=0, sentences=2):
    """(texts by id, sentences by id)."""
    rng = random.Random(seed)
    texts, syntax = {}, {}
    for number in range(count):
        text, trees = "", []
        for _ in range(sentences):
            words, tokens = tree(rng), []
            for place, (form, lemma, part_of_speech, head, relation) in enumerate(words, 1):
                owned = len(words) > 6
                if not (owned and place == 4):  # "le" of "du" shares the span of "de"
                    surface = "du" if owned and place == 3 else form
                    glued = not text or form == "." or text.endswith("'")
                    text += ("" if glued else " ") + surface
                    span = Span(len(text) - len(surface), len(text))
                tokens.append(Token(place, form, lemma, part_of_speech, head, relation, span))
            trees.append(Sentence(tuple(tokens), Span(tokens[0].span.start, tokens[-1].span.end)))
        texts[f"t{number}"], syntax[f"t{number}"] = text, trees
    return texts, syntax


def write_spacy(folder, *, rounds=12):
    """A pipeline with tagger, parser and lemmatizer; `du` is one word for spaCy."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example

    pipeline = spacy.blank("fr")
    examples = []
    for text, trees in zip(*(each.values() for each in make_gold(30)), strict=True):
        words, heads, relations, parts, lemmas, starts = [], [], [], [], [], []
        for sentence in trees:
            merged = [token for place, token in enumerate(sentence.tokens) if _first(sentence, place)]
            numbers = {token.id: len(words) + place for place, token in enumerate(merged)}
            for token in merged:
                words.append(token.span.of(text))
                heads.append(numbers[token.head] if token.head else numbers[token.id])
                relations.append("ROOT" if token.head == 0 else token.relation)
                parts.append(token.part_of_speech)
                lemmas.append(token.lemma)
                starts.append(token is merged[0])
        doc = pipeline.make_doc(text)
        assert [token.text for token in doc] == words
        gold = Doc(pipeline.vocab, words, heads=heads, deps=relations, pos=parts, lemmas=lemmas, sent_starts=starts)
        examples.append(Example(doc, gold))
    for name in ("morphologizer", "trainable_lemmatizer", "parser"):
        pipeline.add_pipe(name, config={"min_tree_freq": 1} if name == "trainable_lemmatizer" else {})
    spacy.util.fix_random_seed(0)
    optimizer = pipeline.initialize(lambda: examples)
    for _ in range(rounds):
        pipeline.update(examples, sgd=optimizer)
    pipeline.to_disk(folder)


def _first(sentence, place):
    return place == 0 or sentence.tokens[place - 1].span != sentence.tokens[place].span


def write_stanza(folder, work):
    """Models for every processor under `folder`/fr, and the resources file that names them."""
    from stanza.models import lemmatizer, mwt_expander, parser, tagger, tokenizer
    from stanza.utils.datasets import prepare_tokenizer_data

    texts, syntax = make_gold(60)
    work.mkdir()
    write_conllu(work / "gold.conllu", syntax, texts)
    (work / "gold.txt").write_text("\n\n".join(texts.values()) + "\n\n", encoding="utf-8")
    gold, name = str(work / "gold.conllu"), "tiny.pt"
    files = ["--train_file", gold, "--eval_file", gold, "--shorthand", "fr_tiny", "--save_name", name, "--cpu"]
    small = ["--no_pretrain", "--lang", "fr", "--hidden_dim", "32", "--char_hidden_dim", "24", "--char_emb_dim", "12",
             "--word_emb_dim", "16", "--transformed_dim", "16", "--tag_emb_dim", "8", "--num_layers", "1", "--word_cutoff", "1",
             "--batch_size", "400", "--no_second_optim"]  # fmt: skip
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        logging.disable(logging.CRITICAL)
        try:
            prepare_tokenizer_data.main(
                [str(work / "gold.txt"), gold, "-o", str(work / "labels"), "-m", str(work / "mwt.json")]
            )
            tokenizer.main(
                ["--txt_file", str(work / "gold.txt"), "--label_file", str(work / "labels"),
                 "--dev_txt_file", str(work / "gold.txt"), "--dev_label_file", str(work / "labels"),
                 "--dev_conll_gold", gold, "--mwt_json_file", str(work / "mwt.json"), "--lang", "fr",
                 "--shorthand", "fr_tiny", "--steps", "150", "--eval_steps", "150", "--batch_size", "6", "--save_name", name,
                 "--save_dir", str(folder / "fr" / "tokenize"), "--cpu"]
            )  # fmt: skip
            mwt_expander.main(
                [*files, "--gold_file", gold, "--lang", "fr", "--dict_only", "--save_dir", str(folder / "fr" / "mwt")]
            )
            tagger.main(
                [*files, *small, "--max_steps", "40", "--eval_interval", "40", "--deep_biaff_hidden_dim", "16",
                 "--composite_deep_biaff_hidden_dim", "8", "--save_dir", str(folder / "fr" / "pos")]
            )  # fmt: skip
            lemmatizer.main([*files, "--dict_only", "--save_dir", str(folder / "fr" / "lemma")])
            parser.main(
                [*files, *small, "--max_steps", "40", "--eval_interval", "40", "--deep_biaff_hidden_dim", "16",
                 "--deep_biaff_output_dim", "16", "--no_checkpoint", "--save_dir", str(folder / "fr" / "depparse")]
            )  # fmt: skip
        finally:
            logging.disable(logging.NOTSET)
    processors = ("tokenize", "mwt", "pos", "lemma", "depparse")
    resources = {each: {"tiny": {}} for each in processors}
    packages = {"tiny": dict.fromkeys(processors, "tiny")}
    tree = {"fr": {**resources, "packages": packages, "default_processors": packages["tiny"], "lang_name": "French"}}
    (folder / "resources.json").write_text(json.dumps(tree), encoding="utf-8")
