import pytest
import torch

from trivium.core.errors import BadInput
from trivium.core.resume import load_checkpoint, save_checkpoint


def train(folder, steps, *, interrupted_at=None):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / 10)
    done = load_checkpoint(folder, model=model, optimizer=optimizer, scheduler=scheduler)
    for step in range(done[0] if done else 0, steps):
        loss = model(torch.randn(3, 4)).square().sum()  # draws from the random state that must be restored
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        if step + 1 == interrupted_at:
            save_checkpoint(
                folder, step=step + 1, model=model, optimizer=optimizer, scheduler=scheduler, extra={"best": 0.5}
            )
            return None
    return model.state_dict()


def test_checkpoint_of_another_shape(tmp_path):
    train(tmp_path, 6, interrupted_at=1)
    model = torch.nn.Linear(2, 2)
    with pytest.raises(BadInput, match="checkpoint does not fit"):
        load_checkpoint(tmp_path, model=model, optimizer=torch.optim.AdamW(model.parameters()))


@pytest.mark.parametrize("there", [True, False])
def test_the_random_states_of_gpus_come_back_where_there_are_gpus(tmp_path, monkeypatch, there):
    """A training that began on a GPU may go on without one."""
    model = torch.nn.Linear(2, 2)
    optimizer, states, given = torch.optim.AdamW(model.parameters()), [torch.arange(3), torch.arange(4)], []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: states)
    save_checkpoint(tmp_path, step=1, model=model, optimizer=optimizer)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: there)
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", given.extend)
    assert load_checkpoint(tmp_path, model=model, optimizer=optimizer) == (1, {})
    assert [state.tolist() for state in given] == ([[0, 1, 2], [0, 1, 2, 3]] if there else [])
