"""How hard is each question when several models answered it? The Rasch model with random items.

pyro, which py-irt fits by, is not needed for one parameter: with the questions' difficulties integrated out there is
one number a model and one for all questions, which SciPy finds exactly in a second. Few models answer many questions
here, the other way round than pupils in a test, so that it is the questions that are drawn from a distribution
(De Boeck 2008).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

_NODES = 61  # of Gauss and Hermite's quadrature
_ABILITY = 5.0  # standard deviation of the abilities' prior: weak, so that a model that is always right has one
SPREADS = (0.01, 20.0)  # bounds of the difficulties' standard deviation
_FLAT = 1e-5  # slope of the log likelihood of a question at which a search that stopped early has arrived all the same


@dataclass(frozen=True)
class Rasch:
    """Both on one scale of logits; difficulties have mean 0.

    Attributes:
        ability: (models,) θ.
        difficulty: (questions,) posterior means of b; a question that more models answer is easier.
        error: (questions,) posterior standard deviations of b.
        spread: σ, the difficulties' standard deviation.
        converged: whether the search arrived at the top of the likelihood.
    """

    ability: NDArray[np.float64]
    difficulty: NDArray[np.float64]
    error: NDArray[np.float64]
    spread: float
    converged: bool = True

    @property
    def at_bound(self) -> bool:
        """Whether σ is as small, or as large, as it may be: the answers do not tell it."""
        return bool(np.isclose(self.spread, SPREADS, rtol=1e-6).any())


def rasch(correct: ArrayLike, answered: ArrayLike | None = None) -> Rasch:
    """Fit `P(model j answers question i) = 1 / (1 + exp(b_i - θ_j))`, b ~ N(0, σ²), by marginal likelihood.

    Of a question that the models J were asked, the number r that answer it right says all:
    `log L = Σ_j θ_j s_j + Σ_J Σ_r n_Jr log ∫ exp(-r b) Π_{j ∈ J} (1 + exp(θ_j - b))⁻¹ φ(b; σ) db`, with s_j the
    questions that model j answers right and n_Jr those that r models of J do. Abilities have a prior N(0, 5²).

    Args:
        correct: (models, questions) of true and false.
        answered: (models, questions), false where an answer is missing, which then counts nowhere; None: none is.

    Raises:
        ValueError: not a matrix with models and questions, or the two have different shapes.
    """
    from scipy.optimize import minimize  # its import takes a fifth of a second
    from scipy.special import expit, log_expit, logsumexp

    given = np.asarray(correct, dtype=bool)
    if given.ndim != 2 or 0 in given.shape:
        raise ValueError(f"expected models × questions, got shape {given.shape}")
    known = np.ones_like(given) if answered is None else np.asarray(answered, dtype=bool)
    if known.shape != given.shape:
        raise ValueError(f"answered should have shape {given.shape}, got {known.shape}")
    given = given & known
    models, questions = given.shape
    solved, right = given.sum(axis=1), given.sum(axis=0)
    masks, group = np.unique(known.T, axis=0, return_inverse=True)  # which models answered, and each question's case
    group = group.reshape(-1)
    tallies = [np.bincount(right[group == number], minlength=models + 1) for number in range(len(masks))]
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    log_weights = np.log(weights / weights.sum())
    numbers = np.arange(models + 1)[:, None]

    def joint(ability: NDArray[np.float64], spread: float) -> NDArray[np.float64]:
        """Log of the integrand at every number of right answers (rows) and node, without Σ θ s."""
        b = spread * nodes
        return log_weights - numbers * b + log_expit(b[None] - ability[:, None]).sum(axis=0)

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        ability, spread = values[:-1], float(np.exp(values[-1]))
        value, slope, spread_slope = ability @ solved, solved.astype(np.float64), 0.0
        for mask, tally in zip(masks, tallies, strict=True):
            terms = joint(ability[mask], spread)
            total = logsumexp(terms, axis=1)
            posterior = np.exp(terms - total[:, None])
            wrong = expit(ability[mask][:, None] - spread * nodes)  # 1 - P(wrong); of each model at each node
            slope[mask] -= wrong @ (tally @ posterior)
            at = -numbers * nodes + (wrong * nodes).sum(axis=0)  # d/dσ of the integrand's log
            spread_slope += float((tally[:, None] * posterior * at).sum()) * spread
            value += tally @ total
        value -= (ability**2).sum() / (2 * _ABILITY**2)
        return -value / questions, -np.append(slope - ability / _ABILITY**2, spread_slope) / questions

    share = np.clip(solved / np.maximum(known.sum(axis=1), 1), 0.02, 0.98)
    start = np.append(np.log(share / (1 - share)), 0.0)
    bounds = [(None, None)] * models + [tuple(np.log(SPREADS))]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-9})
    ability, spread = found.x[:-1], float(np.exp(found.x[-1]))
    mean, error = np.empty(questions), np.empty(questions)
    for number, mask in enumerate(masks):
        posterior = np.exp((terms := joint(ability[mask], spread)) - logsumexp(terms, axis=1)[:, None])
        means = posterior @ (spread * nodes)
        errors = np.sqrt(posterior @ (spread * nodes) ** 2 - means**2)
        mine = group == number
        mean[mine], error[mine] = means[right[mine]], errors[right[mine]]
    arrived = bool(found.success or np.abs(found.jac).max() < _FLAT)
    return Rasch(ability, mean, error, spread, arrived)
