"""How far apart two subspaces are."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from smave import _core


def subspace_distance(a: ArrayLike, b: ArrayLike) -> float:
    r"""Squared distance of two subspaces of the same dimension.

    This is :math:`\|(I - P_b) A\|_F^2`, the sum of the squared sines of the principal angles:
    0 for the same subspace, the number of directions for orthogonal ones.

    Parameters
    ----------
    a, b : array-like of shape (n_components, n_features)
        A direction in each row, as in ``directions_``. They need not be orthonormal.

    Returns
    -------
    float
        The squared distance.

    Examples
    --------
    >>> from smave import subspace_distance
    >>> subspace_distance([[1.0, 0.0]], [[0.0, 2.0]])
    1.0
    """
    return _core.subspace_distance(_directions(a, "a"), _directions(b, "b"))


def principal_angles(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """Principal angles between two subspaces.

    Parameters
    ----------
    a, b : array-like of shape (n_components, n_features)
        A direction in each row, as in ``directions_``. They need not be orthonormal, nor as
        many.

    Returns
    -------
    ndarray of shape (min of the numbers of directions,)
        Angles in radians, smallest first.

    Examples
    --------
    >>> from smave import principal_angles
    >>> principal_angles([[1.0, 0.0, 0.0]], [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]).round(4)
    array([0.7854])
    """
    return _core.principal_angles(_directions(a, "a"), _directions(b, "b"))


def _directions(values: ArrayLike, name: str) -> NDArray[np.float64]:
    checked: NDArray[np.float64] = check_array(values, dtype=np.float64, input_name=name)
    return checked
