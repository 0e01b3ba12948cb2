"""Synthetic data whose directions are known."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from smave import _core
from smave._validation import seed_of

__all__ = ["make_sdr"]


def make_sdr(
    n_samples: int = 1000,
    n_features: int = 20,
    *,
    link: Literal[
        "polynomial", "sinusoidal", "exponential", "interaction", "rational"
    ] = "interaction",
    covariance: Literal["identity", "ar1"] = "ar1",
    noise: float = 0.5,
    density: float = 0.2,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    r"""Make a regression that depends on two combinations of its covariates.

    This is the design of the SMAVE paper: :math:`y = g(z_1, z_2) + \xi` with normal covariates,
    two sparse directions and normal noise. An integer ``random_state`` gives the data of
    ``smave simulate --seed`` on the command line.

    Parameters
    ----------
    n_samples : int, default=1000
        Rows.
    n_features : int, default=20
        Covariates, at least 2.
    link : {"polynomial", "sinusoidal", "exponential", "interaction", "rational"}, \
            default="interaction"
        The regression function g.
    covariance : {"identity", "ar1"}, default="ar1"
        Covariance of the covariates: the identity, or :math:`0.5^{|i - j|}`.
    noise : float, default=0.5
        Standard deviation of the noise.
    density : float, default=0.2
        Share of the covariates that take part in a direction.
    random_state : int, RandomState instance or None, default=None
        Seed of everything that is drawn.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Covariates.
    y : ndarray of shape (n_samples,)
        Response.
    directions : ndarray of shape (2, n_features)
        The true directions, orthonormal, one in each row.

    Examples
    --------
    >>> from smave.datasets import make_sdr
    >>> X, y, directions = make_sdr(100, 5, link="rational", random_state=1)
    >>> X.shape, y.shape, directions.shape
    ((100, 5), (100,), (2, 5))
    """
    return _core.make_sdr(
        n_samples,
        n_features,
        link=link,
        covariance=covariance,
        noise=noise,
        density=density,
        seed=seed_of(random_state),
    )
