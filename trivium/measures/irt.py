"""Item response theory with random items: the difficulty of each question from several models' answers.

Few models answer many questions here, the other way round than pupils in a test, so that it is the questions that are
drawn from a distribution (De Boeck 2008). With them integrated out there is one number a model and one or two for all
questions, which SciPy finds exactly in seconds, where py-irt approximates the same hierarchy by pyro.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

_NODES = {False: (61, 1), True: (41, 11)}  # of Gauss and Hermite's quadrature over difficulty and log discrimination
_ABILITY = 5.0  # standard deviation of the abilities' prior: weak, so that a model that is always right has one
SPREADS = (0.01, 20.0)  # bounds of the difficulties' standard deviation
_DISCRIMINATIONS = (0.01, 1.0)  # of the log discriminations' one
_FLAT = 1e-5  # slope of the log likelihood of a question at which a search that stopped early has arrived all the same


@dataclass(frozen=True)
class Irt:
    """Abilities and difficulties on one scale of logits; difficulties have mean 0.

    Attributes:
        ability: (models,) θ.
        difficulty: (questions,) posterior means of b; a question that more models answer is easier.
        error: (questions,) posterior standard deviations of b.
        spread: σ, the difficulties' standard deviation.
        discrimination: (questions,) posterior means of a; 1 in the Rasch model.
        discrimination_spread: τ, the standard deviation of log a; 0 in the Rasch model.
        information: (questions,) Fisher's information on an ability, a² P (1 - P), mean over the models.
        log_likelihood: of all answers, with the abilities' prior.
        converged: whether the search arrived at the top of the likelihood.
    """

    ability: NDArray[np.float64]
    difficulty: NDArray[np.float64]
    error: NDArray[np.float64]
    spread: float
    discrimination: NDArray[np.float64]
    discrimination_spread: float
    information: NDArray[np.float64]
    log_likelihood: float
    converged: bool

    @property
    def at_bound(self) -> bool:
        """Whether σ is as small, or as large, as it may be: the answers do not tell it."""
        return bool(np.isclose(self.spread, SPREADS, rtol=1e-6).any())


def fit_irt(correct: ArrayLike, answered: ArrayLike | None = None, *, discriminates: bool = False) -> Irt:
    """Fit `P(model j answers question i) = 1 / (1 + exp(-a_i (θ_j - b_i)))` by marginal likelihood.

    b ~ N(0, σ²). In the Rasch model a = 1; in the two-parameter one log a ~ N(0, τ²). Questions with the same pattern
    of answers have the same integral, `∫∫ Π_j P^y (1 - P)^(1 - y) φ(b; σ) φ(log a; τ) db d log a`. Abilities have a
    prior N(0, 5²). Answers are (models, questions), correct or not; one that is not `answered` counts nowhere, None:
    all are. `ValueError`: not a matrix with models and questions, or the two have different shapes.
    """
    from scipy.optimize import minimize  # its import takes a fifth of a second
    from scipy.special import expit, log_expit, logsumexp

    right_answers = np.asarray(correct, dtype=bool)
    if right_answers.ndim != 2 or 0 in right_answers.shape:
        raise ValueError(f"expected models × questions, got shape {right_answers.shape}")
    is_answered = np.ones_like(right_answers) if answered is None else np.asarray(answered, dtype=bool)
    if is_answered.shape != right_answers.shape:
        raise ValueError(f"answered should have shape {right_answers.shape}, got {is_answered.shape}")
    models, questions = right_answers.shape
    patterns, pattern, counts = np.unique(
        np.vstack([right_answers & is_answered, is_answered]).T, axis=0, return_inverse=True, return_counts=True
    )
    pattern = pattern.reshape(-1)
    right, counted = patterns[:, :models].astype(np.float64), patterns[:, models:].astype(np.float64)
    (hard, hard_weight), (sharp, sharp_weight) = (np.polynomial.hermite_e.hermegauss(n) for n in _NODES[discriminates])
    z_b, z_a = np.repeat(hard, len(sharp)), np.tile(sharp, len(hard))
    weight = np.outer(hard_weight, sharp_weight).ravel()
    log_weight = np.log(weight / weight.sum())

    def integrate(values: NDArray[np.float64]) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Discriminations (nodes,), logits (models, nodes), posterior (patterns, nodes), log integrals (patterns,)."""
        slope = np.exp(np.exp(values[-1]) * z_a) if discriminates else np.ones_like(z_a)
        logit = slope * (values[:models, None] - np.exp(values[models]) * z_b)
        terms = log_weight + right @ logit + counted @ log_expit(-logit)
        total = logsumexp(terms, axis=1)
        return slope, logit, np.exp(terms - total[:, None]), total

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        slope, logit, posterior, total = integrate(values)
        expected = counts[:, None] * posterior
        residual = right.T @ expected - (counted.T @ expected) * expit(logit)  # d log L / d logit
        ability = values[:models]
        gradient = [*((residual * slope).sum(axis=1) - ability / _ABILITY**2)]
        gradient.append(-(residual * slope * z_b).sum() * np.exp(values[models]))
        if discriminates:
            gradient.append((residual * logit * z_a).sum() * np.exp(values[-1]))
        value = counts @ total - (ability**2).sum() / (2 * _ABILITY**2)
        return -value / questions, -np.array(gradient) / questions

    share = np.clip(right.T @ counts / np.maximum(counted.T @ counts, 1), 0.02, 0.98)
    start = np.concatenate([np.log(share / (1 - share)), [0.0], [-1.0] * discriminates])
    bounds = [(None, None)] * models + [tuple(np.log(SPREADS))] + [tuple(np.log(_DISCRIMINATIONS))] * discriminates
    optimum = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-9})
    slope, logit, posterior, _ = integrate(optimum.x)
    spread = float(np.exp(optimum.x[models]))
    mean = posterior @ (spread * z_b)
    error = np.sqrt(posterior @ (spread * z_b) ** 2 - mean**2)
    information = posterior @ (slope**2 * expit(logit) * expit(-logit)).mean(axis=0)
    return Irt(
        ability=optimum.x[:models],
        difficulty=mean[pattern],
        error=error[pattern],
        spread=spread,
        discrimination=(posterior @ slope)[pattern],
        discrimination_spread=float(np.exp(optimum.x[-1])) if discriminates else 0.0,
        information=information[pattern],
        log_likelihood=-float(optimum.fun) * questions,
        converged=bool(optimum.success or np.abs(optimum.jac).max() < _FLAT),
    )


def equal_p(rasch: Irt, two: Irt) -> float:
    """The p of equal discriminations, τ = 0: half of χ²₁'s, since τ lies at its bound (Self & Liang 1987)."""
    from scipy.special import chdtrc

    ratio = 2 * (two.log_likelihood - rasch.log_likelihood)
    return float(chdtrc(1, ratio) / 2) if ratio > 0 else 1.0
