from pathlib import Path

import numpy as np
import pytest
import torch

from tests.kvqae.tiny_features import GLOBAL, folder_of
from trivium.kvqae.rerankers.rrt import build_rrt, load_rrt, save_rrt, score_pairs
from trivium.nets.reranking_transformer import RerankingTransformer
from trivium.vision.local_descriptors.folder import FeatureFolder

ALL = np.array([(query, target) for query in (0, 1, 2) for target in (0, 1, 3)])


@pytest.fixture
def model() -> RerankingTransformer:
    torch.manual_seed(0)
    return build_rrt(global_dimension=GLOBAL, layers=2, heads=4, hidden=32).eval()


@pytest.fixture
def features() -> FeatureFolder:
    return folder_of([4, 1, 0, 3, None])


def test_scores_do_not_depend_on_batch_or_order(model: RerankingTransformer, features: FeatureFolder) -> None:
    scores = score_pairs(model, features, features, ALL, batch=9)
    for batch in (1, 2, 5):
        assert np.allclose(score_pairs(model, features, features, ALL, batch=batch), scores, atol=1e-5)
    order = np.random.default_rng(0).permutation(9)
    assert np.allclose(score_pairs(model, features, features, ALL[order], batch=4), scores[order], atol=1e-5)
    assert len(np.unique(np.round(scores, 5))) == 9
    assert score_pairs(model, features, features, ALL[:0], batch=4).shape == (0,)


def test_saved_and_loaded(model: RerankingTransformer, features: FeatureFolder, tmp_path: Path) -> None:
    save_rrt(model, tmp_path / "rrt")
    loaded = load_rrt(tmp_path / "rrt")
    expected = score_pairs(model, features, features, ALL, batch=4)
    assert np.allclose(score_pairs(loaded, features, features, ALL, batch=4), expected, atol=1e-6)
