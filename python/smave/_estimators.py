"""The estimators: each says what its parameters are, and what they are called in the core."""

from __future__ import annotations

import json
from collections.abc import Callable
from numbers import Integral, Real
from os import PathLike
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval, Options, StrOptions

from smave import _core
from smave._base import Iteration, SufficientReduction
from smave._validation import Rows

#: Constraints that several estimators share.
_DIMENSION = [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})]
_NEIGHBORS = [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})]
_COUNT = [Interval(Integral, 1, None, closed="left")]
_WEIGHTS = [StrOptions({"epanechnikov", "uniform"})]
_JOBS = [None, Integral]
_CALLBACK = [callable, None]

_RandomState = int | np.random.RandomState | None
_Callback = Callable[[Iteration], object] | None


def _or_none(value: Any) -> Any:
    """Leave "auto" to the core."""
    return None if value == "auto" else value


class SMAVE(SufficientReduction):
    """Stochastic minimum average variance estimation, refined to convergence.

    Finds the directions along which the mean of ``y`` changes, whatever the link and the
    distribution of ``X``. Many starts race by leave-one-out error, the winner is refined by L-BFGS
    until the subspace stops turning, and covariates that do not pay for themselves are left out.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of directions, at most as many as there are covariates. With "auto" it is chosen
        by cross-validated prediction error (:func:`smave.select_dimension`), at least 1.
    n_neighbors : int or "auto", default="auto"
        Neighbors in each local regression. With "auto" it is chosen by leave-one-out error among
        multiples of ``n_samples ** (4 / (n_components + 4))``.
    weights : {"epanechnikov", "uniform"}, default="epanechnikov"
        How neighbors are weighted.
    n_starts : int, default=2
        Random starts, besides those that come from other methods.
    refine : bool, default=True
        Whether the winner of the race is refined.
    screen : bool, default=True
        Whether covariates that do not pay for themselves are left out.
    max_iter : int, default=12
        Times neighborhoods are renewed at the most, before screening and once more after it.
    tol : float, default=0.02
        The angle, in radians, below which a renewal has not turned the subspace.
    standardize : bool, default=True
        Whether columns are scaled to unit variance first.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. An integer is the ``--seed`` of the command line: the same data
        and settings give the same bits in both.
    n_jobs : int, default=None
        Threads; None is one (unless in a ``joblib.parallel_config`` context), -1 all there are.
        The result does not depend on it.
    verbose : int, default=0
        Whether to print a line per iteration.
    callback : callable, default=None
        Called after each iteration with a dictionary (``iteration``, ``max_iter``, ``objective``,
        ``gradient_norm``, ``moved``); the fit ends with what it has when it returns true.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The orthonormal directions, one in each row, for the columns as the method sees them
        (divided by ``scale_``).
    directions_ : ndarray of shape (n_components, n_features)
        The directions in original units: ``transform(X)`` is ``(X - mean_) @ directions_.T``.
    eigenvalues_ : ndarray of shape (n_components,)
        One for each direction, in decreasing order of what it adds.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each column, and what it is divided by.
    n_components_ : int
        Number of directions.
    loo_error_ : float
        Mean squared leave-one-out error of the regression on the directions.
    n_iter_ : int
        Iterations made.
    trace_ : list of dict
        What each iteration reported.
    stop_reason_ : str
        Why the fit ended.
    n_neighbors_ : int
        Neighbors in each local regression.
    starts_ : list of dict
        How each start of the race fared, best first.
    n_agreeing_ : int
        How many starts ended at the subspace found.
    dimension_choice_ : DimensionChoice
        With ``n_components="auto"``, the choice and why.
    n_features_in_ : int
        Number of covariates.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the covariates, if all are strings.

    See Also
    --------
    SMAVERegressor : The same as a regressor.
    SMAVE.published : Algorithm 1 as published.

    Examples
    --------
    >>> import smave
    >>> X, y, truth = smave.datasets.make_sdr(500, 10, link="rational", random_state=1)
    >>> model = smave.SMAVE(n_components=2, random_state=0).fit(X, y)
    >>> model.components_.shape, model.transform(X).shape
    ((2, 10), (500, 2))
    >>> smave.subspace_distance(model.directions_, truth) < 0.1
    True
    >>> model.score(X, y) > 0.5
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": _DIMENSION,
        "n_neighbors": _NEIGHBORS,
        "weights": _WEIGHTS,
        "n_starts": [Interval(Integral, 0, None, closed="left")],
        "refine": ["boolean"],
        "screen": ["boolean"],
        "max_iter": _COUNT,
        "tol": [Interval(Real, 0, None, closed="neither")],
        "standardize": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": _JOBS,
        "verbose": ["verbose"],
        "callback": _CALLBACK,
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        n_neighbors: int | Literal["auto"] = "auto",
        weights: Literal["epanechnikov", "uniform"] = "epanechnikov",
        n_starts: int = 2,
        refine: bool = True,
        screen: bool = True,
        max_iter: int = 12,
        tol: float = 0.02,
        standardize: bool = True,
        random_state: _RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: _Callback = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.n_starts = n_starts
        self.refine = refine
        self.screen = screen
        self.max_iter = max_iter
        self.tol = tol
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _method(self) -> str:
        return "smave"

    def _settings(self) -> dict[str, Any]:
        return {
            "n_neighbors": _or_none(self.n_neighbors),
            "weights": self.weights,
            "n_starts": self.n_starts,
            "refine": bool(self.refine),
            "screen": bool(self.screen),
            "max_iter": self.max_iter,
            "tol": float(self.tol),
            "standardize": bool(self.standardize),
        }

    @staticmethod
    def published(n_components: int | Literal["auto"] = 2, **parameters: Any) -> PublishedSMAVE:
        """Give SMAVE exactly as published (Algorithm 1).

        Parameters
        ----------
        n_components : int or "auto", default=2
            Number of directions.
        **parameters
            Further parameters of :class:`PublishedSMAVE`.

        Returns
        -------
        PublishedSMAVE
            The estimator, not fitted yet.

        Examples
        --------
        >>> from smave import SMAVE
        >>> SMAVE.published(2, batch_size=100)
        PublishedSMAVE(batch_size=100)
        """
        return PublishedSMAVE(n_components, **parameters)


class SMAVERegressor(RegressorMixin, SMAVE):
    """SMAVE as a regressor: reduce, then predict by local linear regression.

    The parameters and attributes are those of :class:`SMAVE`, and it transforms as well; but it
    counts as a regressor, for scikit-learn and everything that asks.

    See Also
    --------
    SMAVE : The same as a transformer.

    Examples
    --------
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(500, 10, link="rational", random_state=1)
    >>> model = smave.SMAVERegressor(random_state=0).fit(X, y)
    >>> model.predict(X).shape
    (500,)
    >>> low, high = model.predict_interval(X, level=0.9)
    >>> bool(((low <= y) & (y <= high)).mean() > 0.85)
    True
    """


class PublishedSMAVE(SufficientReduction):
    """Stochastic MAVE exactly as published (Algorithm 1).

    A fixed number of stochastic gradient steps on the Stiefel manifold from one random start.
    :meth:`SMAVE.published` makes it.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of directions, at most as many as there are covariates. With "auto" it is chosen
        by cross-validated prediction error (:func:`smave.select_dimension`), at least 1.
    n_neighbors : int or "auto", default="auto"
        Neighbors of each anchor; "auto" is ``n_samples ** (4 / (n_components + 4))``, clipped to
        20 and a third of the rows.
    weights : {"epanechnikov", "uniform"}, default="uniform"
        How neighbors are weighted.
    batch_size : int or "auto", default="auto"
        Anchors per step; "auto" is a fiftieth of the rows, clipped to 50 and 200.
    refresh_every : int or None, default=25
        Steps between rebuilds of the neighborhoods; None never rebuilds.
    step_size : float or "auto", default="auto"
        The first step; "auto" is 0.2.
    step_decay : float, default=0.02
        The decay of the step.
    momentum : float, default=0.9
        Momentum.
    max_iter : int, default=100
        Steps.
    tol : float or None, default=None
        End early once the subspace turns by less than this angle, in radians, between two
        rebuilds.
    standardize : bool, default=False
        Whether columns are scaled to unit variance first. Sensible whenever units differ; not part
        of the published method.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random. An integer is the ``--seed`` of the command line: the same data
        and settings give the same bits in both.
    n_jobs : int, default=None
        Threads; None is one (unless in a ``joblib.parallel_config`` context), -1 all there are.
        The result does not depend on it.
    verbose : int, default=0
        Whether to print a line per iteration.
    callback : callable, default=None
        Called after each iteration with a dictionary (``iteration``, ``max_iter``, ``objective``,
        ``gradient_norm``, ``moved``); the fit ends with what it has when it returns true.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The orthonormal directions, one in each row, for the columns as the method sees them
        (divided by ``scale_``).
    directions_ : ndarray of shape (n_components, n_features)
        The directions in original units: ``transform(X)`` is ``(X - mean_) @ directions_.T``.
    eigenvalues_ : ndarray of shape (n_components,)
        One for each direction, in decreasing order of what it adds.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each column, and what it is divided by.
    n_components_ : int
        Number of directions.
    loo_error_ : float
        Mean squared leave-one-out error of the regression on the directions.
    n_iter_ : int
        Iterations made.
    trace_ : list of dict
        What each iteration reported.
    stop_reason_ : str
        Why the fit ended.
    n_neighbors_ : int
        Neighbors of each anchor.
    n_features_in_ : int
        Number of covariates.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the covariates, if all are strings.

    Examples
    --------
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(500, 10, random_state=1)
    >>> smave.SMAVE.published(2, random_state=0).fit(X, y).n_iter_
    100
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": _DIMENSION,
        "n_neighbors": _NEIGHBORS,
        "weights": _WEIGHTS,
        "batch_size": [*_COUNT, StrOptions({"auto"})],
        "refresh_every": [*_COUNT, None],
        "step_size": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "step_decay": [Interval(Real, 0, None, closed="left")],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "max_iter": _COUNT,
        "tol": [Interval(Real, 0, None, closed="neither"), None],
        "standardize": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": _JOBS,
        "verbose": ["verbose"],
        "callback": _CALLBACK,
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        n_neighbors: int | Literal["auto"] = "auto",
        weights: Literal["epanechnikov", "uniform"] = "uniform",
        batch_size: int | Literal["auto"] = "auto",
        refresh_every: int | None = 25,
        step_size: float | Literal["auto"] = "auto",
        step_decay: float = 0.02,
        momentum: float = 0.9,
        max_iter: int = 100,
        tol: float | None = None,
        standardize: bool = False,
        random_state: _RandomState = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: _Callback = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.batch_size = batch_size
        self.refresh_every = refresh_every
        self.step_size = step_size
        self.step_decay = step_decay
        self.momentum = momentum
        self.max_iter = max_iter
        self.tol = tol
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _method(self) -> str:
        return "smave-published"

    def _settings(self) -> dict[str, Any]:
        return {
            "n_neighbors": _or_none(self.n_neighbors),
            "weights": self.weights,
            "batch_size": _or_none(self.batch_size),
            # Zero is never.
            "refresh_every": 0 if self.refresh_every is None else self.refresh_every,
            "step_size": _or_none(self.step_size),
            "step_decay": float(self.step_decay),
            "momentum": float(self.momentum),
            "max_iter": self.max_iter,
            "tol": None if self.tol is None else float(self.tol),
            "standardize": bool(self.standardize),
        }


class RMAVE(SufficientReduction):
    """Refined MAVE: weights in the projected space, renewed until nothing turns.

    Accurate where there are a few thousand rows and the start, which is OPG's, has found
    something.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of directions, at most as many as there are covariates. With "auto" it is chosen
        by cross-validated prediction error (:func:`smave.select_dimension`), at least 1.
    localization : {"kernel", "neighbors"}, default="kernel"
        Gaussian weights, or uniform ones on nearest neighbors, which are faster.
    max_iter : int, default=100
        Times weights are renewed at the most.
    tol : float, default=0.03
        The angle, in radians, below which a renewal has not turned the subspace.
    standardize : bool, default=True
        Whether columns are scaled to unit variance first.
    n_jobs : int, default=None
        Threads; None is one (unless in a ``joblib.parallel_config`` context), -1 all there are.
        The result does not depend on it.
    verbose : int, default=0
        Whether to print a line per iteration.
    callback : callable, default=None
        Called after each iteration with a dictionary (``iteration``, ``max_iter``, ``objective``,
        ``gradient_norm``, ``moved``); the fit ends with what it has when it returns true.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The orthonormal directions, one in each row, for the columns as the method sees them
        (divided by ``scale_``).
    directions_ : ndarray of shape (n_components, n_features)
        The directions in original units: ``transform(X)`` is ``(X - mean_) @ directions_.T``.
    eigenvalues_ : ndarray of shape (n_components,)
        One for each direction, in decreasing order of what it adds.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each column, and what it is divided by.
    n_components_ : int
        Number of directions.
    loo_error_ : float
        Mean squared leave-one-out error of the regression on the directions.
    n_iter_ : int
        Iterations made.
    trace_ : list of dict
        What each iteration reported.
    stop_reason_ : str
        Why the fit ended.
    n_features_in_ : int
        Number of covariates.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the covariates, if all are strings.

    Examples
    --------
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(400, 6, link="rational", random_state=1)
    >>> smave.RMAVE().fit_transform(X, y).shape
    (400, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": _DIMENSION,
        "localization": [StrOptions({"kernel", "neighbors"})],
        "max_iter": _COUNT,
        "tol": [Interval(Real, 0, None, closed="neither")],
        "standardize": ["boolean"],
        "n_jobs": _JOBS,
        "verbose": ["verbose"],
        "callback": _CALLBACK,
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        localization: Literal["kernel", "neighbors"] = "kernel",
        max_iter: int = 100,
        tol: float = 0.03,
        standardize: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: _Callback = None,
    ) -> None:
        self.n_components = n_components
        self.localization = localization
        self.max_iter = max_iter
        self.tol = tol
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback

    def _method(self) -> str:
        return "rmave" if self.localization == "kernel" else "rmave-knn"

    def _settings(self) -> dict[str, Any]:
        return {
            "max_iter": self.max_iter,
            "tol": float(self.tol),
            "standardize": bool(self.standardize),
        }


class MAVE(SufficientReduction):
    """MAVE with a kernel among all covariates, not refined.

    For comparison, and where there are few covariates.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of directions, at most as many as there are covariates. With "auto" it is chosen
        by cross-validated prediction error (:func:`smave.select_dimension`), at least 1.
    standardize : bool, default=True
        Whether columns are scaled to unit variance first.
    n_jobs : int, default=None
        Threads; None is one (unless in a ``joblib.parallel_config`` context), -1 all there are.
        The result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The orthonormal directions, one in each row, for the columns as the method sees them
        (divided by ``scale_``).
    directions_ : ndarray of shape (n_components, n_features)
        The directions in original units: ``transform(X)`` is ``(X - mean_) @ directions_.T``.
    eigenvalues_ : ndarray of shape (n_components,)
        One for each direction, in decreasing order of what it adds.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each column, and what it is divided by.
    n_components_ : int
        Number of directions.
    loo_error_ : float
        Mean squared leave-one-out error of the regression on the directions.
    n_iter_ : int
        Iterations made.
    trace_ : list of dict
        What each iteration reported.
    stop_reason_ : str
        Why the fit ended.
    n_features_in_ : int
        Number of covariates.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the covariates, if all are strings.

    Examples
    --------
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(400, 6, link="rational", random_state=1)
    >>> smave.MAVE().fit_transform(X, y).shape
    (400, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": _DIMENSION,
        "standardize": ["boolean"],
        "n_jobs": _JOBS,
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        standardize: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.standardize = standardize
        self.n_jobs = n_jobs

    def _method(self) -> str:
        return "mave"

    def _settings(self) -> dict[str, Any]:
        return {"standardize": bool(self.standardize)}


class OPG(SufficientReduction):
    """Outer product of gradients.

    Local slopes among all covariates, and the directions they have in common. Deterministic and
    quick where there are few covariates; the walk finds the right subspace with more.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of directions, at most as many as there are covariates. With "auto" it is chosen
        by cross-validated prediction error (:func:`smave.select_dimension`), at least 1.
    localization : {"kernel", "neighbors", "walk", "adaptive"}, default="kernel"
        Gaussian weights; uniform ones on nearest neighbors; a walk from all dimensions down to the
        directions; neighborhoods that narrow along what was found.
    n_neighbors : int or "auto", default="auto"
        Neighbors of each row, with ``localization="neighbors"``.
    standardize : bool, default=True
        Whether columns are scaled to unit variance first. The walk and the adaptive method always
        do.
    random_state : int, RandomState instance or None, default=None
        Seed of the rows that the walk and the adaptive method look at.
    n_jobs : int, default=None
        Threads; None is one (unless in a ``joblib.parallel_config`` context), -1 all there are.
        The result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The orthonormal directions, one in each row, for the columns as the method sees them
        (divided by ``scale_``).
    directions_ : ndarray of shape (n_components, n_features)
        The directions in original units: ``transform(X)`` is ``(X - mean_) @ directions_.T``.
    eigenvalues_ : ndarray of shape (n_components,)
        One for each direction, in decreasing order of what it adds.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each column, and what it is divided by.
    n_components_ : int
        Number of directions.
    loo_error_ : float
        Mean squared leave-one-out error of the regression on the directions.
    n_iter_ : int
        Always 1: the solution is a closed one.
    n_features_in_ : int
        Number of covariates.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the covariates, if all are strings.

    Examples
    --------
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(400, 6, link="rational", random_state=1)
    >>> smave.OPG().fit_transform(X, y).shape
    (400, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": _DIMENSION,
        "localization": [StrOptions({"kernel", "neighbors", "walk", "adaptive"})],
        "n_neighbors": _NEIGHBORS,
        "standardize": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": _JOBS,
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        localization: Literal["kernel", "neighbors", "walk", "adaptive"] = "kernel",
        n_neighbors: int | Literal["auto"] = "auto",
        standardize: bool = True,
        random_state: _RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.localization = localization
        self.n_neighbors = n_neighbors
        self.standardize = standardize
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _method(self) -> str:
        return _OPG[self.localization]

    def _settings(self) -> dict[str, Any]:
        return {
            "n_neighbors": _or_none(self.n_neighbors),
            "standardize": bool(self.standardize),
        }


class SIR(SufficientReduction):
    """Sliced inverse regression: how the mean of X moves with y.

    For roughly elliptical covariates and a response that moves in one direction with each index;
    blind to even links.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Number of directions, fewer than there are slices: None is 2, or what a response with few
        values allows. With "auto" it is chosen by cross-validated prediction error
        (:func:`smave.select_dimension`), at least 1.
    n_slices : int or "auto", default="auto"
        Slices of a response with many values; "auto" is 10, or two more than directions if that
        is more.
    n_jobs : int, default=None
        Threads; None is one (unless in a ``joblib.parallel_config`` context), -1 all there are.
        The result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The orthonormal directions, one in each row, for the columns as the method sees them
        (divided by ``scale_``).
    directions_ : ndarray of shape (n_components, n_features)
        The directions in original units: ``transform(X)`` is ``(X - mean_) @ directions_.T``.
    eigenvalues_ : ndarray of shape (n_components,)
        One for each direction, in decreasing order of what it adds.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each column, and what it is divided by.
    n_components_ : int
        Number of directions.
    loo_error_ : float
        Mean squared leave-one-out error of the regression on the directions.
    n_iter_ : int
        Always 1: the solution is a closed one.
    n_features_in_ : int
        Number of covariates.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the covariates, if all are strings.

    Examples
    --------
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(400, 6, link="rational", random_state=1)
    >>> smave.SIR().fit_transform(X, y).shape
    (400, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [*_DIMENSION, None],
        "n_slices": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "n_jobs": _JOBS,
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] | None = None,
        *,
        n_slices: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.n_jobs = n_jobs

    def _method(self) -> str:
        return "sir"

    def _settings(self) -> dict[str, Any]:
        return {"n_slices": _or_none(self.n_slices)}

    def _dimension(self, rows: Rows, seed: int) -> int:
        if self.n_components is not None:
            return super()._dimension(rows, seed)
        counted = slice(None) if rows["weights"] is None else rows["weights"] > 0
        # The means of h slices span h - 1 dimensions.
        spanned: int = sum(len(np.unique(y[counted])) - 1 for y in rows["y"])
        return max(1, min(2, int(rows["x"].shape[1]), spanned))


class SAVE(SufficientReduction):
    """Sliced average variance estimation: how the spread of X moves with y.

    For roughly normal covariates, many rows and even links.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of directions, at most as many as there are covariates. With "auto" it is chosen
        by cross-validated prediction error (:func:`smave.select_dimension`), at least 1.
    n_slices : int or "auto", default="auto"
        Slices of a response with many values; "auto" is 10, or two more than directions if that
        is more.
    n_jobs : int, default=None
        Threads; None is one (unless in a ``joblib.parallel_config`` context), -1 all there are.
        The result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The orthonormal directions, one in each row, for the columns as the method sees them
        (divided by ``scale_``).
    directions_ : ndarray of shape (n_components, n_features)
        The directions in original units: ``transform(X)`` is ``(X - mean_) @ directions_.T``.
    eigenvalues_ : ndarray of shape (n_components,)
        One for each direction, in decreasing order of what it adds.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each column, and what it is divided by.
    n_components_ : int
        Number of directions.
    loo_error_ : float
        Mean squared leave-one-out error of the regression on the directions.
    n_iter_ : int
        Always 1: the solution is a closed one.
    n_features_in_ : int
        Number of covariates.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the covariates, if all are strings.

    Examples
    --------
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(400, 6, link="rational", random_state=1)
    >>> smave.SAVE().fit_transform(X, y).shape
    (400, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": _DIMENSION,
        "n_slices": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "n_jobs": _JOBS,
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        n_slices: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.n_jobs = n_jobs

    def _method(self) -> str:
        return "save"

    def _settings(self) -> dict[str, Any]:
        return {"n_slices": _or_none(self.n_slices)}


class DR(SufficientReduction):
    """Directional regression: how mean and spread of X move with y.

    The best first guess among the moment methods, for roughly normal covariates.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of directions, at most as many as there are covariates. With "auto" it is chosen
        by cross-validated prediction error (:func:`smave.select_dimension`), at least 1.
    n_slices : int or "auto", default="auto"
        Slices of a response with many values; "auto" is 10, or two more than directions if that
        is more.
    n_jobs : int, default=None
        Threads; None is one (unless in a ``joblib.parallel_config`` context), -1 all there are.
        The result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The orthonormal directions, one in each row, for the columns as the method sees them
        (divided by ``scale_``).
    directions_ : ndarray of shape (n_components, n_features)
        The directions in original units: ``transform(X)`` is ``(X - mean_) @ directions_.T``.
    eigenvalues_ : ndarray of shape (n_components,)
        One for each direction, in decreasing order of what it adds.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each column, and what it is divided by.
    n_components_ : int
        Number of directions.
    loo_error_ : float
        Mean squared leave-one-out error of the regression on the directions.
    n_iter_ : int
        Always 1: the solution is a closed one.
    n_features_in_ : int
        Number of covariates.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the covariates, if all are strings.

    Examples
    --------
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(400, 6, link="rational", random_state=1)
    >>> smave.DR().fit_transform(X, y).shape
    (400, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": _DIMENSION,
        "n_slices": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "n_jobs": _JOBS,
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        n_slices: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.n_jobs = n_jobs

    def _method(self) -> str:
        return "dr"

    def _settings(self) -> dict[str, Any]:
        return {"n_slices": _or_none(self.n_slices)}


class PHD(SufficientReduction):
    """Principal Hessian directions: where the link bends.

    For roughly normal covariates and a curved link; blind to linear trends.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of directions, at most as many as there are covariates. With "auto" it is chosen
        by cross-validated prediction error (:func:`smave.select_dimension`), at least 1.
    residual : bool, default=False
        Whether the linear trend is removed first.
    n_jobs : int, default=None
        Threads; None is one (unless in a ``joblib.parallel_config`` context), -1 all there are.
        The result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The orthonormal directions, one in each row, for the columns as the method sees them
        (divided by ``scale_``).
    directions_ : ndarray of shape (n_components, n_features)
        The directions in original units: ``transform(X)`` is ``(X - mean_) @ directions_.T``.
    eigenvalues_ : ndarray of shape (n_components,)
        One for each direction, in decreasing order of what it adds.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each column, and what it is divided by.
    n_components_ : int
        Number of directions.
    loo_error_ : float
        Mean squared leave-one-out error of the regression on the directions.
    n_iter_ : int
        Always 1: the solution is a closed one.
    n_features_in_ : int
        Number of covariates.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the covariates, if all are strings.

    Examples
    --------
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(400, 6, link="rational", random_state=1)
    >>> smave.PHD().fit_transform(X, y).shape
    (400, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": _DIMENSION,
        "residual": ["boolean"],
        "n_jobs": _JOBS,
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        residual: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.residual = residual
        self.n_jobs = n_jobs

    def _method(self) -> str:
        return "phd-residual" if self.residual else "phd"

    def _settings(self) -> dict[str, Any]:
        return {}


class ADE(SufficientReduction):
    """Average derivative estimation: the mean of the slopes, one direction.

    For a single index and a link that rises or falls.

    Parameters
    ----------
    n_components : int, default=1
        Must be 1: there is one average.
    standardize : bool, default=True
        Whether columns are scaled to unit variance first.
    n_jobs : int, default=None
        Threads; None is one (unless in a ``joblib.parallel_config`` context), -1 all there are.
        The result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The orthonormal directions, one in each row, for the columns as the method sees them
        (divided by ``scale_``).
    directions_ : ndarray of shape (n_components, n_features)
        The directions in original units: ``transform(X)`` is ``(X - mean_) @ directions_.T``.
    eigenvalues_ : ndarray of shape (n_components,)
        One for each direction, in decreasing order of what it adds.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each column, and what it is divided by.
    n_components_ : int
        Number of directions.
    loo_error_ : float
        Mean squared leave-one-out error of the regression on the directions.
    n_iter_ : int
        Always 1: the solution is a closed one.
    n_features_in_ : int
        Number of covariates.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the covariates, if all are strings.

    Examples
    --------
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(400, 6, link="rational", random_state=1)
    >>> smave.ADE().fit_transform(X, y).shape
    (400, 1)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Options(Integral, {1})],
        "standardize": ["boolean"],
        "n_jobs": _JOBS,
    }

    def __init__(
        self,
        n_components: int = 1,
        *,
        standardize: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.standardize = standardize
        self.n_jobs = n_jobs

    def _method(self) -> str:
        return "ade"

    def _settings(self) -> dict[str, Any]:
        return {"standardize": bool(self.standardize)}


class PCA(SufficientReduction):
    """Principal components, as a baseline behind the same interface.

    The directions in which ``X`` varies most; ``y`` is used to predict only.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of directions, at most as many as there are covariates. With "auto" it is chosen
        by cross-validated prediction error (:func:`smave.select_dimension`), at least 1.
    standardize : bool, default=True
        Whether columns are scaled to unit variance first.
    n_jobs : int, default=None
        Threads; None is one (unless in a ``joblib.parallel_config`` context), -1 all there are.
        The result does not depend on it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The orthonormal directions, one in each row, for the columns as the method sees them
        (divided by ``scale_``).
    directions_ : ndarray of shape (n_components, n_features)
        The directions in original units: ``transform(X)`` is ``(X - mean_) @ directions_.T``.
    eigenvalues_ : ndarray of shape (n_components,)
        One for each direction, in decreasing order of what it adds.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each column, and what it is divided by.
    n_components_ : int
        Number of directions.
    loo_error_ : float
        Mean squared leave-one-out error of the regression on the directions.
    n_iter_ : int
        Always 1: the solution is a closed one.
    n_features_in_ : int
        Number of covariates.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the covariates, if all are strings.

    Examples
    --------
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(400, 6, link="rational", random_state=1)
    >>> smave.PCA().fit_transform(X, y).shape
    (400, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": _DIMENSION,
        "standardize": ["boolean"],
        "n_jobs": _JOBS,
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        standardize: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.standardize = standardize
        self.n_jobs = n_jobs

    def _method(self) -> str:
        return "pca"

    def _settings(self) -> dict[str, Any]:
        return {"standardize": bool(self.standardize)}


#: Methods of OPG, as named on the command line.
_OPG = {
    "kernel": "opg",
    "neighbors": "opg-knn",
    "walk": "opg-walk",
    "adaptive": "opg-adaptive",
}

#: The class of each method, and parameters that its name says.
_METHODS: dict[str, tuple[type[SufficientReduction], dict[str, Any]]] = {
    "smave": (SMAVE, {}),
    "smave-published": (PublishedSMAVE, {}),
    "mave": (MAVE, {}),
    "rmave": (RMAVE, {"localization": "kernel"}),
    "rmave-knn": (RMAVE, {"localization": "neighbors"}),
    "ade": (ADE, {}),
    "sir": (SIR, {}),
    "save": (SAVE, {}),
    "dr": (DR, {}),
    "phd": (PHD, {"residual": False}),
    "phd-residual": (PHD, {"residual": True}),
    "pca": (PCA, {}),
    **{method: (OPG, {"localization": kind}) for kind, method in _OPG.items()},
}


def load(path: str | PathLike[str]) -> SufficientReduction:
    """Read a model from a file, written here or by the command line.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    estimator
        A fitted estimator of the class that the method has here, with the parameters it was fitted
        with. Columns of text that the command line made into indicators have to be given as
        these.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import smave
    >>> X, y, _ = smave.datasets.make_sdr(300, 5, random_state=1)
    >>> model = smave.SIR().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder, "model.json"))
    ...     again = smave.load(pathlib.Path(folder, "model.json"))
    >>> bool((again.transform(X) == model.transform(X)).all())
    True
    """
    model = _core.load(path)
    facts = json.loads(model.facts())
    settings = facts["settings"] or {}
    note = settings.get("python") or {}
    found, parameters = _METHODS[facts["method"]]
    if note.get("class") == "SMAVERegressor":
        found = SMAVERegressor
    estimator = found(**{**found._from_settings(settings), **parameters})
    estimator._keep(model)
    estimator.n_features_in_ = len(facts["names"])
    if note.get("feature_names", True):
        estimator.feature_names_in_ = np.array(facts["names"], dtype=object)
    return estimator
