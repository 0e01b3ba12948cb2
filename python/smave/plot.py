"""Pictures of a fitted model, drawn with matplotlib (``pip install smave[plot]``).

Each function draws into the axes given, or into new ones, and returns them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from smave._inference import Bootstrap, DimensionChoice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from smave._base import SufficientReduction

__all__ = ["dimension", "loadings", "summary", "trace"]


def summary(
    model: SufficientReduction, X: ArrayLike, y: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Draw the summary plot: the response over the directions.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    X : array-like of shape (n_samples, n_features)
        Covariates.
    y : array-like of shape (n_samples,)
        Response.
    ax : matplotlib.axes.Axes, default=None
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
        The first two directions colored by the response; with one direction, the response over it.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import smave, smave.plot
    >>> X, y, _ = smave.datasets.make_sdr(300, 4, random_state=0)
    >>> ax = smave.plot.summary(smave.SIR().fit(X, y), X, y)
    >>> ax.get_xlabel()
    'direction 1'
    """
    ax = _axes(ax)
    z = np.asarray(model.transform(X))
    response = np.asarray(y, dtype=float)
    ax.set_xlabel("direction 1")
    if z.shape[1] == 1:
        ax.scatter(z[:, 0], response, s=8, alpha=0.6)
        ax.set_ylabel("response")
        return ax
    points = ax.scatter(z[:, 0], z[:, 1], c=response, s=8, alpha=0.8)
    ax.set_ylabel("direction 2")
    if ax.figure is not None:
        ax.figure.colorbar(points, ax=ax, label="response")
    return ax


def loadings(
    model: SufficientReduction | Bootstrap,
    *,
    direction: int = 0,
    n_features: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw the loadings of one direction, those of the most relevant covariates.

    Parameters
    ----------
    model : estimator or Bootstrap
        A fitted estimator; or what :func:`smave.bootstrap` found, for intervals as well.
    direction : int, default=0
        Which direction, counted from 0.
    n_features : int, default=20
        Covariates shown at the most.
    ax : matplotlib.axes.Axes, default=None
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
        A dot for each covariate, on a line if there are intervals.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import smave, smave.plot
    >>> X, y, _ = smave.datasets.make_sdr(300, 4, random_state=0)
    >>> ax = smave.plot.loadings(smave.SIR().fit(X, y))
    >>> ax.get_xlabel()
    'loading in direction 1, original units'
    """
    ax = _axes(ax)
    if isinstance(model, Bootstrap):
        names, values, relevance = model.feature_names, model.loadings[direction], model.relevance
    else:
        names, values = model._names, model.directions_[direction]
        relevance = np.sqrt((model.components_**2).sum(axis=0))
    order = np.argsort(-relevance, kind="stable")[:n_features][::-1]
    places = np.arange(len(order))
    if isinstance(model, Bootstrap):
        low, high = model.loadings_low[direction][order], model.loadings_high[direction][order]
        ax.hlines(places, low, high, linewidth=2, alpha=0.5)
    ax.axvline(0.0, color="gray", linewidth=0.8)
    ax.plot(values[order], places, "o")
    ax.set_yticks(places, [names[i] for i in order])
    ax.set_xlabel(f"loading in direction {direction + 1}, original units")
    return ax


def dimension(choice: DimensionChoice, *, ax: Axes | None = None) -> Axes:
    """Draw prediction error against the number of directions.

    Parameters
    ----------
    choice : DimensionChoice
        What :func:`smave.select_dimension` found.
    ax : matplotlib.axes.Axes, default=None
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
        The curve with standard errors, and the choice.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> import smave, smave.plot
    >>> choice = smave.DimensionChoice(1, 1, np.array([1.0, 0.3]), np.array([0.1, 0.05]))
    >>> smave.plot.dimension(choice).get_ylabel()
    'mean squared prediction error'
    """
    ax = _axes(ax)
    dims = np.arange(len(choice.errors))
    ax.errorbar(dims, choice.errors, yerr=choice.standard_errors, marker="o", capsize=3)
    ax.axvline(choice.n_components, color="gray", linestyle="--", label="chosen")
    ax.set_xticks(dims)
    ax.set_xlabel("directions")
    ax.set_ylabel("mean squared prediction error")
    ax.legend()
    return ax


def trace(model: SufficientReduction, *, ax: Axes | None = None) -> Axes:
    """Draw the criterion over the iterations of a fit.

    Parameters
    ----------
    model : estimator
        A fitted estimator that iterates.
    ax : matplotlib.axes.Axes, default=None
        Where to draw.

    Returns
    -------
    matplotlib.axes.Axes
        The variance that local fits explain, iteration by iteration.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import smave, smave.plot
    >>> X, y, _ = smave.datasets.make_sdr(300, 4, random_state=0)
    >>> smave.plot.trace(smave.SMAVE(random_state=0).fit(X, y)).get_xlabel()
    'iteration'
    """
    ax = _axes(ax)
    ax.plot(
        [iteration["iteration"] + 1 for iteration in model.trace_],
        [iteration["objective"] for iteration in model.trace_],
        marker=".",
    )
    ax.set_xlabel("iteration")
    ax.set_ylabel("local variance explained")
    return ax


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Drawing needs matplotlib: pip install smave[plot]") from error
    return plt.subplots()[1]
