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


@dataclass(frozen=True)
class Rasch:
    """Both on one scale of logits; difficulties have mean 0.

    Attributes:
        ability: (models,) θ.
        difficulty: (questions,) posterior means of b; a question that more models answer is easier.
        error: (questions,) posterior standard deviations of b.
        spread: σ, the difficulties' standard deviation.
    """

    ability: NDArray[np.float64]
    difficulty: NDArray[np.float64]
    error: NDArray[np.float64]
    spread: float


def rasch(correct: ArrayLike) -> Rasch:
    """Fit `P(model j answers question i) = 1 / (1 + exp(b_i - θ_j))`, b ~ N(0, σ²), by marginal likelihood.

    How many models answer a question, r, says all about it:
    `log L = Σ_j θ_j s_j + Σ_r n_r log ∫ exp(-r b) Π_j (1 + exp(θ_j - b))⁻¹ φ(b; σ) db`, with s_j the questions that
    model j answers and n_r those that r models do. Abilities have a prior N(0, 5²).

    Args:
        correct: (models, questions) of true and false.

    Raises:
        ValueError: not a matrix with models and questions.
    """
    from scipy.optimize import minimize  # its import takes a fifth of a second
    from scipy.special import expit, log_expit, logsumexp

    correct = np.asarray(correct, dtype=bool)
    if correct.ndim != 2 or 0 in correct.shape:
        raise ValueError(f"expected models × questions, got shape {correct.shape}")
    models, questions = correct.shape
    solved, answered = correct.sum(axis=1), correct.sum(axis=0)
    tally = np.bincount(answered, minlength=models + 1)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    log_weights = np.log(weights / weights.sum())
    numbers = np.arange(models + 1)[:, None]

    def joint(ability: NDArray[np.float64], spread: float) -> NDArray[np.float64]:
        """Log of the integrand at every number of models that answer (rows) and node, without Σ θ s."""
        b = spread * nodes
        return log_weights - numbers * b + log_expit(b[None] - ability[:, None]).sum(axis=0)

    def loss(values: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        ability, spread = values[:-1], float(np.exp(values[-1]))
        terms = joint(ability, spread)
        total = logsumexp(terms, axis=1)
        posterior = np.exp(terms - total[:, None])
        wrong = expit(ability[:, None] - spread * nodes)  # 1 - P(wrong); of each model at each node
        by_node = tally @ posterior
        slope = solved - wrong @ by_node - ability / _ABILITY**2
        at = -numbers * nodes + (wrong * nodes).sum(axis=0)  # d/dσ of the integrand's log
        spread_slope = float((tally[:, None] * posterior * at).sum()) * spread
        value = ability @ solved + tally @ total - (ability**2).sum() / (2 * _ABILITY**2)
        return -value / questions, -np.append(slope, spread_slope) / questions

    share = np.clip(solved / questions, 0.02, 0.98)
    start = np.append(np.log(share / (1 - share)), 0.0)
    bounds = [(None, None)] * models + [(np.log(0.01), np.log(20.0))]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-9})
    ability, spread = found.x[:-1], float(np.exp(found.x[-1]))
    posterior = np.exp((terms := joint(ability, spread)) - logsumexp(terms, axis=1)[:, None])
    mean = posterior @ (spread * nodes)
    error = np.sqrt(posterior @ (spread * nodes) ** 2 - mean**2)
    return Rasch(ability, mean[answered], error[answered], spread)
