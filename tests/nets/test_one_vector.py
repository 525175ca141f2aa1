"""Under `run.portable` on a CPU a text has one vector, a pair one score, whatever stands beside it: to the bit."""

import os
import subprocess
import sys

import pytest

from trivium.core.arithmetic import PORTABLE, SETTINGS

# Networks as wide as those that people use: MiniLM's, BERT's, the sample's. Texts of 3 to 72 tokens are computed alone,
# with others, in another order, with other padding; `run.portable` computes with one thread.
SCRIPT = """
import sys
import torch
from transformers import BertConfig, BertForQuestionAnswering, BertForSequenceClassification, BertModel
from trivium.nets.bert import cls_vectors, relevance_scores
from trivium.nets.device import attention, pad_inputs
from trivium.nets.reader import best_spans

torch.manual_seed(0)
width, heads = map(int, sys.argv[1:])
shape = {"hidden_size": width, "num_attention_heads": heads, "num_hidden_layers": 2, "intermediate_size": 4 * width,
         "vocab_size": 500, "attn_implementation": attention()}
encoder = BertModel(BertConfig(**shape), add_pooling_layer=False).eval()
scorer = BertForSequenceClassification(BertConfig(**shape, num_labels=1)).eval()
reader = BertForQuestionAnswering(BertConfig(**shape)).eval()
texts = [torch.randint(5, 500, (length,)) for length in (3, 7, 12, 20, 33, 40, 41, 55, 64, 72)]

@torch.inference_mode()
def computed(rows, length):
    ids, mask = torch.zeros(2, len(rows), length, dtype=torch.long)
    for place, row in enumerate(rows):
        ids[place, : len(texts[row])], mask[place, : len(texts[row])] = texts[row], 1
    types = (torch.arange(length) > 2).long() * mask
    found = [cls_vectors(encoder, ids, mask), relevance_scores(scorer, ids, mask, types)[:, None]]
    ids, mask, types = pad_inputs(reader, ids, mask, types)
    logits = reader(input_ids=ids, attention_mask=mask, token_type_ids=types)
    spans = best_spans(logits.start_logits, logits.end_logits, mask.bool(), types, 5)
    found += [torch.stack([spans.scores, spans.starts, spans.ends, spans.start_mass, spans.end_mass], dim=1)]
    return dict(zip(rows, torch.cat(found, dim=1)))

alone = {row: computed([row], len(text))[row] for row, text in enumerate(texts)}
everyone = list(range(len(texts)))
cases = {f"{count} at {length}": (everyone[:count], length) for count, length in
         ((2, 7), (2, 72), (3, 13), (5, 34), (7, 80), (10, 72), (10, 96), (10, 128))}
cases |= {"backwards": (everyone[::-1], 72), "the longest first": ([9, 0], 73)}
for name, (rows, length) in cases.items():
    for row, vector in computed(rows, length).items():
        if not torch.equal(vector, alone[row]):
            print(f"{name}: text {row} has another vector")
"""


@pytest.mark.parametrize(("width", "heads"), [(128, 4), (384, 12), (768, 12)])
def test_what_stands_beside_a_text_changes_no_bit(width, heads):
    environment = os.environ | SETTINGS["intel"] | {PORTABLE: "intel"}
    command = [sys.executable, "-c", SCRIPT, str(width), str(heads)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
