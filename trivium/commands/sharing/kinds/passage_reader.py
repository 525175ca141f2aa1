"""The reader of several passages, which transformers reads as it is."""

from json import dumps

from trivium.commands.sharing.licence import kvqae_start
from trivium.commands.sharing.package import Artifact, Described, Kind

_USAGE = """
import torch
from transformers import AutoModelForQuestionAnswering, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained({name})
model = AutoModelForQuestionAnswering.from_pretrained({name}).eval()
question = "Which constituency did this man represent?"
passages = ["Winston Churchill [SEP] He was a member for Dundee.", "Paris [SEP] It is a city."]
inputs = tokenizer([question] * len(passages), passages, truncation=True, max_length={tokens}, padding=True,
                   return_token_type_ids=True, return_offsets_mapping=True, return_tensors="pt")
offsets = inputs.pop("offset_mapping")
with torch.inference_mode():
    output = model(**inputs)
# An answer lies within the title or within the text of one passage, and has at most {longest} tokens.
separator = inputs["input_ids"] == tokenizer.sep_token_id
inside = (inputs["token_type_ids"] == 1) & ~separator
piece = separator.cumsum(1)
allowed = inside[:, :, None] & inside[:, None, :] & (piece[:, :, None] == piece[:, None, :])
allowed &= torch.ones_like(allowed).triu().tril({longest} - 1)
# One softmax is shared by all passages: the best span of all is that of the highest sum.
scores = output.start_logits[:, :, None] + output.end_logits[:, None, :]
best = scores.masked_fill(~allowed, -torch.inf).flatten().argmax()
passage, start, end = (int(each) for each in torch.unravel_index(best, scores.shape))
answer = passages[passage][offsets[passage, start, 0] : offsets[passage, end, 1]]
print(answer)
"""


class PassageReader(Kind):
    """Multi-passage BERT (kvqae.md §5)."""

    name, kind, pattern = "passage_reader", "model", "models/kvqae/reader/zero_shot"

    @staticmethod
    def describe(artifact: Artifact) -> Described:
        """A BERT with start and end."""
        parameters = artifact.lineage.parameters
        parts = artifact.path.split("/")[3:]
        tokens = int(parameters["kvqae.texts.pair_tokens"])
        return Described(
            title=f"Trivium reader, {', '.join(parts).replace('_', '-')}",
            about="Multi-passage BERT: extracts a short answer from several passages of one question (Wang et al., "
            "EMNLP 2019; Lerner et al., TAL 2022, section 7).",
            notes=(f"A passage is read as `title [SEP] text`; question and passage are cut to {tokens} tokens.",),
            usage=_USAGE.format(
                name=dumps(artifact.target.name), tokens=tokens, longest=parameters["kvqae.reader"]["answer_tokens"]
            ),
            files=artifact.files(),
            start=kvqae_start(artifact.project, artifact.lineage),
            library="transformers",
            task="question-answering",
            language="en",
        )
