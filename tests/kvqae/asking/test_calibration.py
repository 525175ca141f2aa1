"""Thresholds, temperatures and their error, against known answers."""

import math

import numpy as np
import pytest
from scipy.special import softmax

from trivium.kvqae.asking.recognition import Calibration, fit_temperature


def test_the_threshold_is_that_of_split_conformal_prediction():
    impostors = Calibration({}, [float(each) for each in range(1, 100)])  # n = 99
    assert impostors.threshold(0.05) == 95  # ceil(100 · 0.95)
    assert impostors.threshold(0.01) == 99
    assert impostors.threshold(0.005) == math.inf


def test_at_most_the_share_of_impostors_passes():
    draw = np.random.default_rng(0)
    passed = []
    for _ in range(400):
        scores = draw.normal(size=60)
        passed.append(draw.normal() > Calibration({}, sorted(scores)).threshold(0.05))
    assert np.mean(passed) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_the_temperature_of_drawn_choices_is_found_again():
    draw = np.random.default_rng(1)
    pairs = []
    for _ in range(4000):
        scores = draw.normal(size=6)
        pairs.append((scores, int(draw.choice(6, p=softmax(scores / 0.7)))))
    assert fit_temperature(pairs) == pytest.approx(0.7, rel=0.1)
    given = [softmax(scores / 0.7).max() for scores, _ in pairs]
    right = [int(np.argmax(scores)) == place for scores, place in pairs]
    assert np.mean(given) == pytest.approx(np.mean(right), abs=0.03)
    hot = [softmax(scores / 0.1).max() for scores, _ in pairs]
    assert np.mean(hot) > np.mean(right) + 0.2


def test_too_few_pairs():
    assert fit_temperature([(np.array([1.0, 0.0]), 0)] * 9) is None
    assert Calibration({}).probabilities(np.array([1.0])) is None
