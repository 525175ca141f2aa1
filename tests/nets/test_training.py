"""The one loop: goes on to the bit wherever it was killed, halves, stops, clips, validates, keeps the last or best."""

from collections import Counter
from dataclasses import dataclass, field
from functools import partial

import pytest
import torch
from safetensors.torch import load_file

from trivium.core.errors import BadInput
from trivium.nets import training
from trivium.nets.training import (
    Progress,
    Validation,
    add_gradient,
    load_checkpoint,
    rise_and_fall,
    rows_of_step,
    save_checkpoint,
)

STEPS, SIZE = 7, 6
INPUTS, TARGETS = torch.randn(20, 4, generator=torch.Generator().manual_seed(0)).split([3, 1], dim=1)


@dataclass
class Curves:
    """Keeps what is logged; raises at a step to play a kill."""

    stop: int | None = None
    points: list[tuple[int, dict[str, float]]] = field(default_factory=list)

    def __call__(self, step, **values):
        if step == self.stop and "loss" in values:
            raise KeyboardInterrupt
        self.points.append((step, values))

    def curve(self, name):
        return [(step, values[name]) for step, values in self.points if name in values]


class Toy:
    """A network with dropout and batch normalisation, whose loss fits so many rows at a time."""

    def __init__(self, *, fits=SIZE, dropout=0.5, seed=0):
        torch.manual_seed(seed)
        layers = torch.nn.Linear(3, 8), torch.nn.BatchNorm1d(8), torch.nn.Dropout(dropout), torch.nn.Linear(8, 1)
        self.model = torch.nn.Sequential(*layers)
        self.fits, self.sizes = fits, []

    def gradient(self, batch, micro_batch):
        def share(part):
            rows = batch[part]
            self.sizes.append(len(rows))
            assert self.model.training
            if len(rows) > self.fits:
                raise torch.OutOfMemoryError
            return (self.model(INPUTS[rows]) - TARGETS[rows]).square().sum() / len(batch)

        return add_gradient(len(batch), micro_batch, share), {"rows": len(batch)}

    def train(self, work, log=None, **changes):
        optimizer = torch.optim.AdamW([w for w in self.model.parameters() if w.requires_grad], lr=0.01)
        rate = partial(rise_and_fall, rising=2, steps=STEPS)
        options = {
            "steps": STEPS,
            "batches": lambda first: (rows_of_step(20, SIZE, step, 5) for step in range(first, STEPS)),
            "gradient": self.gradient,
            "micro_batch": SIZE,
            "unit": "rows",
            "max_gradient_norm": 0.5,
            "work": work,
            "checkpoint_every": 2,
            "log": log or Curves(),
        }
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
        return training.train(self.model, optimizer, scheduler, **options | changes)

    def state(self):
        return {name: value.clone() for name, value in self.model.state_dict().items()}


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def scored(toy):
    """The loss on all rows, turned: no draw, but of the state of the network; needs evaluation mode."""
    assert not toy.model.training
    with torch.no_grad():
        return {"validation_score": -float((toy.model(INPUTS) - TARGETS).square().mean())}


def scripted(scores, states, toy):
    left = iter(scores)

    def validate():
        states.append(toy.state())
        return {"validation_score": next(left), "beside": float(len(states))}

    return validate


@pytest.mark.parametrize(("every", "best"), [(1, None), (2, "validation_score"), (3, None)])
@pytest.mark.parametrize("stop", range(1, STEPS + 1))
def test_killed_at_any_step_it_goes_on_to_the_same_bits(tmp_path, stop, every, best):
    def run(work, curves):
        toy = Toy()
        validation = Validation(lambda: scored(toy), every=2, best=best)
        done = toy.train(work, curves, checkpoint_every=every, validation=validation)
        return toy.state(), done, torch.get_rng_state()

    whole = Curves()
    weights, progress, drawn = run(tmp_path / "whole", whole)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "killed", Curves(stop))
    again = Curves()
    resumed, gone_on, drawn_again = run(tmp_path / "killed", again)
    assert same(weights, resumed)
    assert progress == gone_on
    assert torch.equal(drawn, drawn_again)
    first = (stop - 1) // every * every + 1  # after the last checkpoint
    assert again.points == [point for point in whole.points if point[0] >= first]


def test_killed_at_the_first_checkpoint_after_a_new_best(tmp_path, monkeypatch):
    """The best weights are ahead of the checkpoint then."""

    def run(work):
        toy = Toy()
        validation = Validation(lambda: scored(toy), every=1, best="validation_score")
        toy.train(work, validation=validation, checkpoint_every=3)
        return toy.state()

    with monkeypatch.context() as patch:
        patch.setattr(training, "save_checkpoint", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(tmp_path / "killed")
    assert (tmp_path / "killed" / training.BEST).exists()
    assert same(run(tmp_path / "killed"), run(tmp_path / "whole"))


def test_out_of_memory_halves_and_starts_the_step_again(tmp_path, capsys):
    small, wanted = Toy(fits=2, dropout=0.0), Toy(dropout=0.0)
    progress = small.train(tmp_path / "small")
    assert small.sizes[:5] == [6, 3, 2, 2, 2]
    assert set(small.sizes[5:]) == {2}
    assert progress.micro_batch == 2
    assert "mini-batches of 2 rows" in capsys.readouterr().out
    wanted.train(tmp_path / "wanted", micro_batch=2)
    parameters = [dict(toy.model.named_parameters()) for toy in (small, wanted)]
    assert all(torch.equal(value, parameters[1][name]) for name, value in parameters[0].items())


def test_what_did_not_fit_before_a_kill_is_not_tried_after_it(tmp_path):
    toy, again = Toy(fits=3), Toy()
    with pytest.raises(KeyboardInterrupt):
        toy.train(tmp_path, Curves(stop=4))
    again.train(tmp_path)
    assert set(again.sizes) == {3}


def test_a_loss_that_is_not_finite_names_the_step(tmp_path):
    toy = Toy()

    def broken(batch, micro_batch):
        loss, counts = toy.gradient(batch, micro_batch)
        return (float("nan") if len(toy.sizes) == 3 else loss), counts

    with pytest.raises(BadInput, match="step 3: the loss is not finite; got nan; expected a lower learning rate"):
        toy.train(tmp_path, gradient=broken)


def test_gradients_are_clipped_and_their_norm_before_is_logged(tmp_path):
    curves, norms = Curves(), []
    toy = Toy()

    def long(batch, micro_batch):
        found = toy.gradient(batch, micro_batch)
        for weights in toy.model.parameters():
            weights.grad *= 100
        norms.append(torch.nn.utils.get_total_norm([weights.grad for weights in toy.model.parameters()]).item())
        return found

    seen = []
    step = torch.optim.AdamW.step

    def watched(self, *rest):
        seen.append(torch.nn.utils.get_total_norm([w.grad for w in self.param_groups[0]["params"]]).item())
        return step(self, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.optim.AdamW, "step", watched)
        toy.train(tmp_path, curves, gradient=long)
    assert [norm for _, norm in curves.curve("gradient_norm")] == norms
    assert min(norms) > 0.5
    assert seen == pytest.approx([0.5] * STEPS, rel=1e-4)
    without = Curves()
    Toy().train(tmp_path / "without", without, max_gradient_norm=None)
    assert without.curve("gradient_norm") == []


@pytest.mark.parametrize(
    ("best", "kept", "scores"),
    [(None, 7, {"validation_score": 0.2, "beside": 4.0}), ("validation_score", 4, {"validation_score": 0.5, "beside": 2.0})],
)  # fmt: skip
def test_the_last_or_the_first_best_weights_are_kept(tmp_path, best, kept, scores):
    toy, states, curves = Toy(), [], Curves()
    validate = scripted([0.1, 0.5, 0.5, 0.2], states, toy)
    progress = toy.train(tmp_path, curves, validation=Validation(validate, every=2, best=best))
    assert curves.curve("validation_score") == [(2, 0.1), (4, 0.5), (6, 0.5), (7, 0.2)]
    assert (progress.kept, progress.scores) == (kept, scores)
    assert same(toy.state(), states[{7: 3, 4: 1}[kept]])
    assert not toy.model.training


SCORES = [0.1, 0.3, 0.2, 0.4, 0.4, 0.4, 0.9]  # by hand: 0.4 at step 4 is the best before two in a row are not better


@pytest.mark.parametrize("every", [1, 2, 4])
@pytest.mark.parametrize("stop", range(1, 7))
def test_patience_goes_on_where_it_was(tmp_path, stop, every):
    """Scores follow from the step, so that a validation that is made again says the same."""

    def run(work, curves):
        toy = Toy()

        def validate():
            return {"validation_score": SCORES[curves.curve("loss")[-1][0] - 1]}

        validation = Validation(validate, every=1, best="validation_score", patience=2)
        return toy.train(work, curves, validation=validation, checkpoint_every=every), toy.state()

    progress, weights = run(tmp_path / "whole", Curves())
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "killed", Curves(stop))
    gone_on, resumed = run(tmp_path / "killed", Curves())
    assert gone_on == progress
    assert progress.steps == 6
    assert same(weights, resumed)


def test_a_checkpoint_may_hold_a_part(tmp_path):
    toy = Toy()
    toy.model[0].requires_grad_(False)
    toy.train(tmp_path / "part", saved=toy.model[3])
    assert load_file(tmp_path / "part" / "checkpoint" / "model.safetensors").keys() == {"weight", "bias"}


@pytest.mark.parametrize(("count", "size"), [(5, 2), (3, 4), (4, 4), (20, 4)])
def test_every_epoch_sees_every_row_once_in_another_order_each(count, size):
    seen = [row for step in range(count) for row in rows_of_step(count, size, step, 7)]
    epochs = [seen[start : start + count] for start in range(0, len(seen), count)]
    assert all(sorted(epoch) == list(range(count)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 1
    assert rows_of_step(count, size, 2, 7) == seen[2 * size : 3 * size]


def test_rows_follow_from_the_seed():
    assert rows_of_step(10, 4, 2, 1) != rows_of_step(10, 4, 2, 2)
    assert rows_of_step(10, 4, 2, 1) != rows_of_step(10, 4, 2, 1, 0)
    assert Counter(rows_of_step(3, 8, 0, 0)).most_common(1)[0][1] == 3


def test_the_rate_rises_then_falls():
    assert [rise_and_fall(step, rising=3, steps=12) for step in range(13)] == pytest.approx(
        [1 / 4, 2 / 4, 3 / 4, 1, 8 / 9, 7 / 9, 6 / 9, 5 / 9, 4 / 9, 3 / 9, 2 / 9, 1 / 9, 0]
    )
    assert rise_and_fall(0, rising=0, steps=4) == 1
    assert rise_and_fall(4, rising=4, steps=4) == 0


def test_parts_add_up_to_the_whole_batchs_gradient():
    gradients = []
    for micro_batch in (6, 4, 1):
        weights = torch.ones(3, 1, requires_grad=True)
        loss = add_gradient(
            6,
            micro_batch,
            lambda part, weights=weights: ((INPUTS[:6] @ weights) - TARGETS[:6])[part].square().sum() / 6,
        )
        gradients.append((loss, *weights.grad.flatten().tolist()))
    assert gradients[1] == pytest.approx(gradients[0])
    assert gradients[2] == pytest.approx(gradients[0])


def test_a_checkpoint_of_another_shape_is_refused(tmp_path):
    toy = Toy()
    toy.train(tmp_path)
    toy.model = torch.nn.Linear(2, 2)
    with pytest.raises(BadInput, match="checkpoint does not fit"):
        toy.train(tmp_path)


@pytest.mark.parametrize("there", [True, False])
def test_the_random_states_of_gpus_come_back_where_there_are_gpus(tmp_path, monkeypatch, there):
    """A training that began on a GPU may go on without one."""
    model, states, given = torch.nn.Linear(2, 2), [torch.arange(3), torch.arange(4)], []
    optimizer = torch.optim.AdamW(model.parameters())
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: states)
    save_checkpoint(tmp_path, Progress(4, steps=1), model, optimizer, scheduler)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", given.extend)
    assert load_checkpoint(tmp_path, model, optimizer, scheduler) == Progress(4, steps=1)
    assert [state.tolist() for state in given] == ([[0, 1, 2], [0, 1, 2, 3]] if there else [])
