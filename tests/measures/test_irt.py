"""The Rasch and the two-parameter model: against integrals by SciPy, and on answers that were drawn from them."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import approx_fprime
from scipy.special import expit
from scipy.stats import norm

from trivium.measures.irt import equal_p, fit_irt


def drawn(models: int, questions: int, spread: float, seed: int = 0):
    rng = np.random.default_rng(seed)
    ability, difficulty = np.linspace(-1, 1.5, models), rng.normal(0, spread, questions)
    return ability, difficulty, rng.random((models, questions)) < expit(ability[:, None] - difficulty)


def log_likelihood(values, correct):
    """Of abilities and log σ, a pattern at a time, each integral by adaptive quadrature."""
    ability, spread = values[:-1], np.exp(values[-1])
    total = -(ability**2).sum() / 50
    for pattern, count in zip(*np.unique(correct.T, axis=0, return_counts=True), strict=True):

        def integrand(b, pattern=pattern):
            return np.where(pattern, expit(ability - b), expit(b - ability)).prod() * norm.pdf(b, 0, spread)

        total += count * np.log(quad(integrand, -8 * spread, 8 * spread, epsabs=1e-13)[0])
    return total


def test_the_fit_is_the_top_of_the_likelihood():
    _, _, correct = drawn(3, 120, 1.2)
    found = fit_irt(correct)
    at = np.append(found.ability, np.log(found.spread))
    slopes = approx_fprime(at, log_likelihood, 1e-5, correct)
    assert slopes == pytest.approx(np.zeros(4), abs=0.02)
    for moved in (*(at + step for step in 0.1 * np.eye(4)), *(at - step for step in 0.1 * np.eye(4))):
        assert log_likelihood(moved, correct) < log_likelihood(at, correct)


def test_difficulties_are_posterior_means():
    _, _, correct = drawn(4, 200, 1.0)
    found = fit_irt(correct)
    for place in (0, 7, 50):
        pattern = correct[:, place]

        def density(b, pattern=pattern):
            answer = np.where(pattern, expit(found.ability - b), expit(b - found.ability))
            return answer.prod() * norm.pdf(b, 0, found.spread)

        mass = quad(density, -9, 9)[0]
        mean = quad(lambda b: b * density(b), -9, 9)[0] / mass
        square = quad(lambda b: b * b * density(b), -9, 9)[0] / mass
        assert found.difficulty[place] == pytest.approx(mean, abs=1e-6)
        assert found.error[place] == pytest.approx(np.sqrt(square - mean**2), abs=1e-6)


def test_what_was_drawn_is_found_again():
    ability, difficulty, correct = drawn(20, 3000, 1.5)
    found = fit_irt(correct)
    assert found.ability == pytest.approx(ability, abs=0.15)
    assert found.spread == pytest.approx(1.5, abs=0.1)
    assert np.corrcoef(found.difficulty, difficulty)[0, 1] > 0.9
    assert np.abs(found.difficulty - difficulty).mean() == pytest.approx(
        np.sqrt(2 / np.pi) * found.error.mean(), rel=0.1
    )


def test_a_missing_answer_counts_nowhere():
    """Against the integral, and against what fewer models say of questions that all of them answered."""
    _, _, correct = drawn(4, 40, 1.2)
    answered = np.random.default_rng(1).random(correct.shape) < 0.7
    found = fit_irt(correct, answered)
    at = np.append(found.ability, np.log(found.spread))

    def likelihood(values):
        ability, spread = values[:-1], np.exp(values[-1])
        total = -(ability**2).sum() / 50
        for pattern, known in zip(correct.T, answered.T, strict=True):

            def integrand(b, pattern=pattern, known=known):
                return np.where(pattern, expit(ability - b), expit(b - ability))[known].prod() * norm.pdf(b, 0, spread)

            total += np.log(quad(integrand, -8 * spread, 8 * spread, epsabs=1e-12)[0])
        return total

    best = likelihood(at)
    for step in 0.1 * np.eye(5):
        assert likelihood(at + step) < best
        assert likelihood(at - step) < best
    absent = np.vstack([correct, np.zeros(40, dtype=bool)])
    known = np.vstack([np.ones_like(correct), np.zeros(40, dtype=bool)])
    more, fewer = fit_irt(absent, known), fit_irt(correct)
    assert more.ability == pytest.approx(np.append(fewer.ability, 0), abs=1e-3)
    assert more.difficulty == pytest.approx(fewer.difficulty, abs=1e-3)


def test_a_missing_answer_is_no_wrong_one():
    _, _, correct = drawn(5, 400, 1.0)
    answered = np.ones_like(correct)
    answered[0, ::2] = False
    correct[0, ::2] = False
    whole = fit_irt(drawn(5, 400, 1.0)[2])
    assert fit_irt(correct, answered).ability[0] == pytest.approx(whole.ability[0], abs=0.3)
    assert fit_irt(correct).ability[0] < whole.ability[0] - 0.5


def test_a_spread_at_its_bound_is_told():
    assert fit_irt(np.ones((3, 40))).at_bound
    fit = fit_irt(drawn(4, 200, 1.0)[2])
    assert (fit.at_bound, fit.converged) == (False, True)


def test_models_that_are_always_or_never_right_have_an_ability():
    _, _, correct = drawn(3, 300, 1.0)
    found = fit_irt(np.vstack([correct, np.ones(300), np.zeros(300)]))
    assert np.isfinite(found.ability).all()
    assert found.ability.argmax() == 3
    assert found.ability.argmin() == 4
    assert np.isfinite(found.difficulty).all()


def test_abilities_of_models_that_know_everything_are_held_by_the_prior():
    # No question is harder than another: σ falls to its bound of 0.01, and 40 / (1 + exp(θ)) = θ / 5².
    found = fit_irt(np.ones((3, 40)))
    assert found.spread == pytest.approx(0.01)
    assert 40 * expit(-found.ability) == pytest.approx(found.ability / 25, rel=1e-4)


def test_more_models_that_answer_make_an_easier_question():
    _, _, correct = drawn(6, 400, 1.0)
    found = fit_irt(correct)
    answered = correct.sum(axis=0)
    means = [found.difficulty[answered == count].mean() for count in np.unique(answered)]
    assert np.all(np.diff(means) < 0)
    for shape in ((0, 3), (3,), (1, 2, 3)):
        with pytest.raises(ValueError, match="models × questions, got shape"):
            fit_irt(np.ones(shape))
    with pytest.raises(ValueError, match="answered should have shape"):
        fit_irt(np.ones((2, 3)), np.ones((3, 2)))


def drawn_sharp(models: int, questions: int, spread: float, sharpness: float, seed: int = 0):
    rng = np.random.default_rng(seed)
    ability, difficulty = np.linspace(-1.5, 1.5, models), rng.normal(0, spread, questions)
    slope = np.exp(rng.normal(0, sharpness, questions))
    return slope, difficulty, rng.random((models, questions)) < expit(slope * (ability[:, None] - difficulty))


def test_two_parameters_are_the_top_of_the_double_integral():
    """Against sums over a fine grid, which knows nothing of Gauss and Hermite."""
    _, _, correct = drawn_sharp(6, 600, 1.2, 0.6)
    found = fit_irt(correct, discriminates=True)
    assert 0.3 < found.discrimination_spread < 0.95, "within its bounds"
    patterns, counts = np.unique(correct.T, axis=0, return_counts=True)
    z = np.linspace(-7, 7, 281)
    weight = np.outer(norm.pdf(z), norm.pdf(z)) * (z[1] - z[0]) ** 2

    def on_grid(values):
        """Discriminations, difficulties and P of every model on the grid, and the integrand of every pattern."""
        a, b = np.meshgrid(np.exp(values[7] * z), values[6] * z)
        p = expit(a * (values[:6, None, None] - b))
        return a, b, p, [weight * np.where(row[:, None, None], p, 1 - p).prod(axis=0) for row in patterns]

    def likelihood(values):
        return counts @ np.log([each.sum() for each in on_grid(values)[3]]) - (values[:6] ** 2).sum() / 50

    at = np.concatenate([found.ability, [found.spread, found.discrimination_spread]])
    best = likelihood(at)
    assert found.log_likelihood == pytest.approx(best, abs=1e-3)
    for step in 0.1 * np.eye(8):
        assert likelihood(at + step) < best
        assert likelihood(at - step) < best
    a, b, p, integrands = on_grid(at)
    for pattern, integrand in zip(patterns[::20], integrands[::20], strict=True):
        place = np.flatnonzero((pattern == correct.T).all(axis=1))[0]
        for name, value in (
            ("difficulty", b),
            ("discrimination", a),
            ("information", (a**2 * p * (1 - p)).mean(axis=0)),
        ):
            expected = (integrand * value).sum() / integrand.sum()
            assert getattr(found, name)[place] == pytest.approx(expected, abs=3e-3), name


def test_two_parameters_that_were_drawn_are_found_again():
    slope, difficulty, correct = drawn_sharp(40, 1500, 1.3, 0.6)
    rasch, two = fit_irt(correct), fit_irt(correct, discriminates=True)
    assert two.converged
    assert (two.spread, two.discrimination_spread) == (pytest.approx(1.3, abs=0.1), pytest.approx(0.6, abs=0.1))
    assert np.corrcoef(np.log(two.discrimination), np.log(slope))[0, 1] > 0.7
    assert np.corrcoef(two.difficulty, difficulty)[0, 1] > np.corrcoef(rasch.difficulty, difficulty)[0, 1]
    assert equal_p(rasch, two) < 1e-6


def test_equal_discriminations_are_the_rasch_model():
    _, _, correct = drawn(8, 600, 1.2)
    rasch, two = fit_irt(correct), fit_irt(correct, discriminates=True)
    assert rasch.discrimination == pytest.approx(1)
    assert rasch.discrimination_spread == 0
    assert two.discrimination_spread < 0.25
    assert two.difficulty == pytest.approx(rasch.difficulty, abs=0.25)
    assert equal_p(rasch, two) > 0.05
