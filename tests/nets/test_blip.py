"""BLIP's losses against a plain re-implementation in NumPy."""

import copy

import numpy as np
import pytest
import torch
from transformers import BlipConfig, BlipForImageTextRetrieval

from tests.decorrelation.tiny_models import BLIP_CONFIG
from trivium.nets.blip import BlipEncoders, BlipTraining

N, QUEUE = 4, 6
PICTURES = torch.tensor([3, 5, 3, 9])  # the first and third pair are of one picture


def softmax(values):
    raised = np.exp(values - values.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


@pytest.fixture
def training():
    torch.manual_seed(0)
    text = BLIP_CONFIG["text_config"] | {"vocab_size": 20, "bos_token_id": 4, "sep_token_id": 3}
    encoders = BlipEncoders(BlipForImageTextRetrieval(BlipConfig(**BLIP_CONFIG | {"text_config": text})), 5)
    training = BlipTraining(encoders, temperature=0.2, queue=QUEUE, momentum=0.9)
    with torch.no_grad():
        for weights in training.slow.parameters():
            weights.mul_(1.1)
    training.pictures[:2] = torch.tensor([3, 9])  # of earlier batches
    return training.eval()


@pytest.fixture
def batch():
    torch.manual_seed(3)
    mask = torch.ones(N, 5, dtype=torch.int64)
    mask[1, 3:] = 0
    return torch.rand(N, 3, 16, 16), torch.randint(6, 20, (N, 5)), mask


def embeddings(encoders, batch):
    with torch.no_grad():
        return encoders.images(batch[0])[1].numpy(), encoders.texts(*batch[1:]).numpy()


def test_contrastive_loss_with_momentum_queue_and_soft_targets(training, batch):
    alpha, scale = 0.4, 1 / 0.2
    images, texts = embeddings(training.encoders, batch)
    slow_images, slow_texts = embeddings(training.slow, batch)
    keys = {
        "texts": np.concatenate([slow_texts, training.texts]),
        "images": np.concatenate([slow_images, training.images]),
    }
    ids = [3, 5, 3, 9, 3, 9, -1, -1, -1, -1]
    total = 0.0
    for queries, slow, side in ((images, slow_images, "texts"), (texts, slow_texts, "images")):
        soft = softmax(scale * slow @ keys[side].T)
        predicted = np.log(softmax(scale * queries @ keys[side].T))
        for i in range(N):
            same = [float(ids[j] == ids[i]) for j in range(N + QUEUE)]
            targets = [alpha * soft[i, j] + (1 - alpha) * same[j] / sum(same) for j in range(N + QUEUE)]
            total -= sum(targets[j] * predicted[i, j] for j in range(N + QUEUE)) / N / 2
    tensors = [torch.from_numpy(each) for each in (images, texts, slow_images, slow_texts)]
    loss = training._contrastive(*tensors, PICTURES, torch.tensor(scale), alpha)
    assert float(loss) == pytest.approx(total, rel=1e-5)


def test_matching_draws_hard_negatives_of_other_pictures_only(training, batch):
    seen = []

    def match(patches, ids, mask):
        seen.append((patches, ids, mask))
        return torch.tensor([[0.0, 1.0]]).repeat(len(ids), 1)

    training.encoders.match = match
    patches = torch.arange(N).float()[:, None]  # a picture's patches are its number
    ids = torch.arange(N)[:, None]
    scores = 30 * torch.tensor([[1.0, 0, 1, 0.9], [0, 1, 1, 0], [1, 0, 1, 0.9], [0, 0.9, 0, 1]])
    loss = training._matching(patches, ids, torch.ones_like(ids), scores, PICTURES)
    # -log softmax of the right class: 4 matches (logit 1 of [0, 1]) and 8 that are none (logit 0).
    none, match_ = np.log(1 + np.e), np.log(1 + np.e) - 1
    assert float(loss) == pytest.approx((4 * match_ + 8 * none) / 12, rel=1e-5)
    [(of, texts, _)] = seen
    pairs = list(zip(of[:, 0].int().tolist(), texts[:, 0].tolist(), strict=True))
    assert pairs[:4] == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert pairs[4:8] == [(0, 3), (1, 2), (2, 3), (3, 1)]  # by far the likeliest other text of each picture
    assert pairs[8:] == [(pairs[8][0], 0), (3, 1), (pairs[10][0], 2), (pairs[11][0], 3)]
    assert all(PICTURES[picture] != PICTURES[text] for picture, text in pairs[4:])


def test_a_batch_of_one_picture_has_no_negatives_to_match(training, batch):
    loss = training.loss(*batch, torch.zeros(N, dtype=torch.int64), 0.4)
    assert loss.isfinite()


def test_momentum_encoders_follow_and_the_queue_turns(training, batch):
    before = [weights.clone() for weights in training.slow.parameters()]
    now = [weights.clone() for weights in training.encoders.parameters()]
    training.loss(*batch, PICTURES, 0.4)
    for slow, old, fast in zip(training.slow.parameters(), before, now, strict=True):
        assert torch.allclose(slow, 0.9 * old + 0.1 * fast, atol=1e-6)
        assert not slow.requires_grad
    images, texts = embeddings(training.slow, batch)
    assert np.allclose(training.images[:N], images, atol=1e-6)
    assert np.allclose(training.texts[:N], texts, atol=1e-6)
    assert training.pictures.tolist() == [3, 5, 3, 9, -1, -1]
    training.loss(*batch, PICTURES + 10, 0.4)
    assert training.pictures.tolist() == [13, 19, 3, 9, 13, 15]
    assert int(training.place) == 2


def test_a_batch_larger_than_the_queue_leaves_its_end(training):
    vectors = torch.eye(8)[:, :6]
    training._enqueue(vectors, vectors, torch.arange(8))
    assert training.pictures.tolist() == [2, 3, 4, 5, 6, 7]


def test_temperature_is_kept_in_its_range(training, batch):
    def loss(temperature):
        twin = copy.deepcopy(training)
        with torch.no_grad():
            twin.temperature.fill_(temperature)
        torch.manual_seed(0)  # draws the negatives
        return float(twin.loss(*batch, PICTURES, 0.4))

    assert loss(-1.0) == loss(0.0001) == loss(0.001) != loss(0.002)
    assert loss(2.0) == loss(0.6) == loss(0.5) != loss(0.4)


def test_the_state_of_a_training_is_in_its_module(training):
    names = training.state_dict().keys()
    assert {"images", "texts", "pictures", "place", "temperature"} <= names
    assert any(name.startswith("slow.") for name in names)


def test_matching_reads_the_text_with_its_own_mark_first(training, batch):
    patches, _ = training.encoders.images(batch[0])
    other = batch[1].clone()
    other[:, 0] = 2  # [CLS] or anything else: [ENC] takes its place
    assert torch.equal(training.encoders.match(patches, *batch[1:]), training.encoders.match(patches, other, batch[2]))
