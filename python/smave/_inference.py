"""How many directions, how sure they are, and which covariates matter."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_X_y

from smave import _core
from smave._validation import X_FORMAT, as_rows, n_threads, seed_of

if TYPE_CHECKING:
    import pandas as pd

    from smave._base import SufficientReduction


@dataclass(frozen=True)
class DimensionChoice:
    """A number of directions, and why.

    Attributes
    ----------
    n_components : int
        The smallest number of directions within a standard error of the least error; 0 if none
        predicts better than the mean.
    least : int
        The number of directions with the least error.
    errors : ndarray of shape (max_dim + 1,)
        Mean squared prediction error with 0, 1, ... directions, on rows not fitted to.
    standard_errors : ndarray of shape (max_dim + 1,)
        Their standard errors.
    ladle : int or None
        A second opinion, from eigenvalues and the bootstrap variation of eigenvectors.
    ladle_curve : ndarray or None
        What it minimizes, with 0, 1, ... directions.
    augmentation : int or None
        A second opinion, from the weight that eigenvectors give to covariates of pure noise.
    augmentation_curve : ndarray or None
        What it minimizes, with 0, 1, ... directions.
    nested_error : float or None
        Error of choosing and fitting together, on rows that neither has seen, if asked for.
    nested_standard_error : float or None
        Its standard error.
    """

    n_components: int
    least: int
    errors: NDArray[np.float64]
    standard_errors: NDArray[np.float64]
    ladle: int | None = None
    ladle_curve: NDArray[np.float64] | None = None
    augmentation: int | None = None
    augmentation_curve: NDArray[np.float64] | None = None
    nested_error: float | None = None
    nested_standard_error: float | None = None


@dataclass(frozen=True)
class Bootstrap:
    """Intervals for loadings and relevance, and p-values.

    Attributes
    ----------
    level : float
        The share of intervals that should cover the truth.
    n_replicates : int
        Bootstrap replicates.
    feature_names : list of str
        Covariates.
    loadings, loadings_low, loadings_high : ndarray of shape (n_components, n_features)
        Loadings in original units, as in ``directions_``, and the ends of their intervals.
    relevance, relevance_low, relevance_high : ndarray of shape (n_features,)
        From 0, takes no part, to 1, is a direction by itself; and the ends of their intervals.
    p_values : ndarray of shape (n_features,)
        How often a covariate like this, but without effect, would look as relevant by chance.
    angles : ndarray of shape (n_components,)
        Principal angles, in radians, within which the true subspace lies.
    """

    level: float
    n_replicates: int
    feature_names: list[str]
    loadings: NDArray[np.float64]
    loadings_low: NDArray[np.float64]
    loadings_high: NDArray[np.float64]
    relevance: NDArray[np.float64]
    relevance_low: NDArray[np.float64]
    relevance_high: NDArray[np.float64]
    p_values: NDArray[np.float64]
    angles: NDArray[np.float64]

    def to_frame(self) -> pd.DataFrame:
        """Make a table of covariates, the most relevant first.

        Returns
        -------
        pandas.DataFrame
            Relevance, its interval and the p-value of each covariate, and its loadings.
        """
        import pandas as pd

        table = pd.DataFrame(
            {
                "relevance": self.relevance,
                "low": self.relevance_low,
                "high": self.relevance_high,
                "p_value": self.p_values,
            },
            index=pd.Index(self.feature_names, name="covariate"),
        )
        for j, loadings in enumerate(self.loadings):
            table[f"direction {j + 1}"] = loadings
        return table.iloc[np.lexsort((self.p_values, -self.relevance))]


def select_dimension(
    X: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    max_dim: int = 6,
    n_folds: int = 5,
    n_repeats: int = 2,
    nested: bool = False,
    second_opinions: bool = True,
    standardize: bool = True,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> DimensionChoice:
    """Choose the number of directions by cross-validated prediction error.

    It is ``smave dim`` on the command line, and gives the same numbers for the same seed.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Covariates.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Response, or several.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights that count rows.
    max_dim : int, default=6
        Directions at the most; never more than there are covariates.
    n_folds : int, default=5
        Folds of the cross-validation.
    n_repeats : int, default=2
        Times rows are shuffled into folds anew.
    nested : bool, default=False
        Whether to estimate the error of choosing and fitting together. Takes as many times longer
        as there are folds.
    second_opinions : bool, default=True
        Whether the ladle and predictor augmentation are computed.
    standardize : bool, default=True
        Whether columns are scaled to unit variance.
    random_state : int, RandomState instance or None, default=None
        Seed of folds, fits and second opinions.
    n_jobs : int, default=None
        Threads; None is one, -1 all there are. The result does not depend on it.

    Returns
    -------
    DimensionChoice
        The choice, and why.

    Examples
    --------
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(400, 5, link="rational", random_state=0)
    >>> smave.select_dimension(X, y, max_dim=3, n_repeats=1, random_state=0).n_components
    2
    """
    checked = check_X_y(X, y, multi_output=True, y_numeric=True, ensure_min_samples=2, **X_FORMAT)
    rows = as_rows(checked[0], checked[1], sample_weight, None)
    text = _core.select_dimension(
        rows,
        max_dim=min(max_dim, rows["x"].shape[1]),
        folds=n_folds,
        repeats=n_repeats,
        nested=nested,
        second_opinions=second_opinions,
        standardize=standardize,
        seed=seed_of(random_state),
        n_threads=n_threads(n_jobs),
    )
    found = json.loads(text)
    ladle, augmentation = found["ladle"], found["augmentation"]
    nested_found: dict[str, Any] = found["nested"] or {}
    return DimensionChoice(
        n_components=found["chosen"],
        least=found["least"],
        errors=_numbers([at["error"] for at in found["curve"]]),
        standard_errors=_numbers([at["standard_error"] for at in found["curve"]]),
        ladle=ladle and ladle["chosen"],
        ladle_curve=ladle and _numbers(ladle["curve"]),
        augmentation=augmentation and augmentation["chosen"],
        augmentation_curve=augmentation and _numbers(augmentation["curve"]),
        nested_error=nested_found.get("error"),
        nested_standard_error=nested_found.get("standard_error"),
    )


def bootstrap(
    model: SufficientReduction,
    X: ArrayLike,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    n_replicates: int = 200,
    n_permutations: int = 499,
    level: float = 0.9,
    max_rows: int = 5000,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> Bootstrap:
    """Find out how sure the directions are, and which covariates matter.

    It is ``smave explain`` on the command line, and gives the same numbers for the same seed.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package.
    X : array-like of shape (n_samples, n_features)
        The covariates it was fitted to.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The responses it was fitted to.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights that count rows.
    n_replicates : int, default=200
        Bootstrap replicates, at least 20.
    n_permutations : int, default=499
        Permutations behind each p-value, at least 19.
    level : float, default=0.9
        The share of intervals that should cover the truth.
    max_rows : int, default=5000
        Rows that the tests use at the most, drawn at random.
    random_state : int, RandomState instance or None, default=None
        Seed of replicates and permutations.
    n_jobs : int, default=None
        Threads; None is one, -1 all there are. The result does not depend on it.

    Returns
    -------
    Bootstrap
        Intervals and p-values.

    Examples
    --------
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(300, 4, link="rational", random_state=0)
    >>> model = smave.SMAVE(random_state=0).fit(X, y)
    >>> found = smave.bootstrap(model, X, y, n_replicates=20, n_permutations=19, random_state=0)
    >>> found.loadings.shape, bool((found.loadings_low <= found.loadings_high).all())
    ((2, 4), True)
    """
    rows = model._rows(X, y, sample_weight)
    text = _core.bootstrap(
        model._model,
        rows,
        n_replicates=n_replicates,
        n_permutations=n_permutations,
        level=level,
        max_rows=max_rows,
        seed=seed_of(random_state),
        n_threads=n_threads(n_jobs),
    )
    found = json.loads(text)
    covariates = found["covariates"]

    def relevance(what: str) -> NDArray[np.float64]:
        return _numbers([covariate["relevance"][what] for covariate in covariates])

    def loadings(what: str) -> NDArray[np.float64]:
        rows = [[interval[what] for interval in one["loadings"]] for one in covariates]
        return np.ascontiguousarray(_numbers(rows).T)

    return Bootstrap(
        level=found["level"],
        n_replicates=found["replicates"],
        feature_names=[covariate["name"] for covariate in covariates],
        loadings=loadings("estimate"),
        loadings_low=loadings("low"),
        loadings_high=loadings("high"),
        relevance=relevance("estimate"),
        relevance_low=relevance("low"),
        relevance_high=relevance("high"),
        p_values=_numbers([covariate["p_value"] for covariate in covariates]),
        angles=_numbers(found["angles"]),
    )


def _numbers(values: list[Any]) -> NDArray[np.float64]:
    return np.array(values, dtype=np.float64)
