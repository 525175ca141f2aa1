import itertools
import math

import pytest
import torch

from trivium.nets.reader import answer_pieces, best_spans, marginal_losses, question_loss, shared_log_softmax

LOG = math.log


def logits_of(probabilities):
    """Logits whose plain softmax gives these weights, up to a constant that must not matter."""
    return torch.tensor(probabilities).log() + 7.0


def whole(passages, tokens):
    return torch.ones(passages, tokens, dtype=torch.bool)


def positions(passages, tokens, *places):
    targets = torch.zeros(passages, tokens, dtype=torch.bool)
    for place in places:
        targets[place] = True
    return targets


def slots(targets):
    """The places of each passage's targets, filled up with −1."""
    rows = [torch.where(row)[0] for row in targets]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1)


def test_softmax_is_shared_over_the_passages():
    log_p = shared_log_softmax(logits_of([[1.0, 3.0], [4.0, 2.0]]), whole(2, 2))
    assert torch.allclose(log_p.exp(), torch.tensor([[0.1, 0.3], [0.4, 0.2]]))


def test_padding_has_no_probability_and_no_influence():
    mask = torch.tensor([[True, True, True], [True, False, False]])
    log_p = shared_log_softmax(logits_of([[1.0, 3.0, 4.0], [2.0, 9.0, 9.0]]), mask)
    assert torch.allclose(log_p.exp(), torch.tensor([[0.1, 0.3, 0.4], [0.2, 0.0, 0.0]]))


def test_loss_is_the_mean_over_passages_of_the_marginal_likelihood():
    # Starts: passage 0 answers at tokens 1 and 2, P = .3 + .2; passage 1 is irrelevant, P([CLS]) = .1.
    starts = logits_of([[0.1, 0.3, 0.2], [0.1, 0.2, 0.1]])
    ends = logits_of([[0.2, 0.2, 0.2], [0.1, 0.1, 0.2]])
    start_targets, end_targets = positions(2, 3, (0, 1), (0, 2), (1, 0)), positions(2, 3, (0, 2), (1, 0))
    start_losses, end_losses = [-LOG(0.3 + 0.2), -LOG(0.1)], [-LOG(0.2), -LOG(0.1)]
    mean = question_loss(starts, ends, whole(2, 3), slots(start_targets), slots(end_targets))
    assert mean.item() == pytest.approx(sum(start_losses) / 2 + sum(end_losses) / 2)


def test_max_takes_the_worst_passage_of_each_answer():
    """Passages with three answers, two, and none: the k-th are compared with each other, start and end together."""
    starts = logits_of([[0.05, 0.25], [0.1, 0.2], [0.1, 0.3]])
    ends = logits_of([[0.1, 0.2], [0.15, 0.25], [0.05, 0.25]])
    start_slots = torch.tensor([[1, 0, 0, -1], [0, 1, -1, -1], [0, -1, -1, -1]])
    end_slots = torch.tensor([[1, 1, 0, -1], [1, 1, -1, -1], [0, -1, -1, -1]])
    # P(start)·P(end): first answers .25·.2, .1·.25, [CLS] .1·.05; second .05·.2, .2·.25; third .05·.1.
    first, second, third = min(0.05, 0.025, 0.005), min(0.01, 0.05), 0.005
    loss = question_loss(starts, ends, whole(3, 2), start_slots, end_slots, "max")
    assert loss.item() == pytest.approx(-LOG(first + second + third))


def test_gradient_of_max_is_finite_where_answers_are_missing():
    logits = logits_of([[0.1, 0.3], [0.2, 0.4]]).requires_grad_()
    places = torch.tensor([[1, -1], [0, -1]])
    question_loss(logits, logits, whole(2, 2), places, places, "max").backward()
    # Only passage 1's [CLS] counts, P = .2 as start and as end: 2 (P(t) − [t is it]).
    assert torch.allclose(logits.grad, 2 * torch.tensor([[0.1, 0.3], [0.2 - 1, 0.4]]), atol=1e-6)


def test_loss_is_not_one_sum_over_all_passages():
    """Putting everything on the [CLS] of irrelevant passages must cost, although it wins in a single sum."""
    cls_wins = logits_of([[0.001, 0.001], [0.499, 0.0001], [0.4989, 0.0]]).clamp(min=-20)
    balanced = logits_of([[0.001, 0.332], [0.332, 0.001], [0.332, 0.002]])
    targets = positions(3, 2, (0, 1), (1, 0), (2, 0))
    losses = [
        question_loss(each, each, whole(3, 2), slots(targets), slots(targets)).item() for each in (cls_wins, balanced)
    ]
    assert losses[1] < losses[0]


def test_gradient_is_softmax_minus_posterior():
    """d/dz_t of −log Σ_T P = P(t) − [t ∈ T] P(t) / Σ_T P; finite with padding."""
    logits = logits_of([[0.1, 0.3, 0.2, 1.0], [0.1, 0.2, 0.1, 1.0]]).requires_grad_()
    mask = torch.tensor([[True, True, True, False]] * 2)
    targets = positions(2, 4, (0, 1), (0, 2), (1, 0))
    marginal_losses(shared_log_softmax(logits, mask), targets)[0].backward()
    assert torch.allclose(
        logits.grad, torch.tensor([[0.1, 0.3 - 0.3 / 0.5, 0.2 - 0.2 / 0.5, 0], [0.1, 0.2, 0.1, 0]]), atol=1e-6
    )


def random_question(passages=5, tokens=14, seed=0):
    generator = torch.Generator().manual_seed(seed)
    starts, ends = torch.randn(2, passages, tokens, generator=generator)
    lengths = torch.randint(9, tokens + 1, (passages, 1), generator=generator)
    place = torch.arange(tokens)[None, :]
    mask = place < lengths
    pieces = torch.where((place < 3) | ~mask | (place == 5) | (place == lengths - 1), 0, 1 + (place > 5))
    targets = positions(passages, tokens, *((passage, passage + 2) for passage in range(passages)))
    return starts, ends, mask, pieces, targets


@pytest.mark.parametrize("reduction", ["mean", "max"])
def test_loss_ignores_passage_order_and_padding(reduction):
    starts, ends, mask, _, targets = random_question()
    first, last = slots(targets), slots(targets.flip(0))
    loss = question_loss(starts, ends, mask, first, last, reduction)
    order = torch.tensor([3, 0, 4, 2, 1])
    shuffled = question_loss(starts[order], ends[order], mask[order], first[order], last[order], reduction)
    assert torch.allclose(loss, shuffled)

    def longer(tensor, value):
        return torch.nn.functional.pad(tensor, (0, 3), value=value)

    padded = question_loss(
        longer(starts, 50.0), longer(ends, 50.0), longer(mask, False), first, last, reduction,
    )  # fmt: skip
    assert torch.allclose(loss, padded)


def brute_force(starts, ends, mask, pieces, longest):
    """Every span of every passage under the joint softmax; the answer of the question."""
    p_start, p_end = shared_log_softmax(starts, mask).exp(), shared_log_softmax(ends, mask).exp()
    spans = {}
    for passage, first, last in itertools.product(range(len(starts)), *[range(starts.shape[1])] * 2):
        inside = pieces[passage, first : last + 1]
        if first <= last < first + longest and bool((inside == inside[0]).all()) and inside[0] > 0:
            spans[passage, first, last] = (p_start[passage, first] * p_end[passage, last]).item()
    best = max(spans, key=spans.__getitem__)
    return best, spans[best]


@pytest.mark.parametrize("longest", [1, 3, 30])
@pytest.mark.parametrize("seed", range(5))
def test_decoding_is_exact(longest, seed):
    starts, ends, mask, pieces, _ = random_question(seed=seed)
    found = best_spans(starts, ends, mask, pieces, longest)
    for chosen in ([0], [1, 3], [0, 1, 2, 3, 4]):  # one reading serves every set of passages
        (passage, first, last), probability = brute_force(*(t[chosen] for t in (starts, ends, mask, pieces)), longest)
        best = chosen[int(found.scores[chosen].argmax())]
        assert (best, int(found.starts[best]), int(found.ends[best])) == (chosen[passage], first, last)
        normaliser = found.start_mass[chosen].logsumexp(0) + found.end_mass[chosen].logsumexp(0)
        assert (found.scores[best] - normaliser).exp().item() == pytest.approx(probability, rel=1e-5)


def test_ties_go_to_the_first_start_then_the_shortest():
    zeros = torch.zeros(1, 4)
    found = best_spans(zeros, zeros, whole(1, 4), torch.tensor([[0, 1, 1, 1]]), 3)
    assert (int(found.starts[0]), int(found.ends[0])) == (1, 1)


def test_passage_without_candidates():
    found = best_spans(torch.zeros(1, 3), torch.zeros(1, 3), whole(1, 3), torch.zeros(1, 3, dtype=torch.long), 2)
    assert found.scores[0] == -torch.inf


def test_pieces_are_title_and_text_without_separators():
    # [CLS] question [SEP] title title [SEP] text text [SEP] padding
    ids = torch.tensor([[101, 7, 102, 8, 8, 102, 9, 9, 102, 0]])
    types = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 1, 1, 0]])
    assert answer_pieces(ids, types, 102).tolist() == [[0, 0, 0, 1, 1, 0, 2, 2, 0, 0]]
