"""Sufficient dimension reduction: the few linear combinations that carry a regression.

A regression of ``y`` on many covariates often depends on a few linear combinations of them.
The estimators of this package find these combinations. They are scikit-learn estimators:
transformers that reduce ``X`` to the combinations, and predict ``y`` from them.

Examples
--------
>>> import smave
>>> X, y, truth = smave.datasets.make_sdr(500, 8, random_state=0)
>>> model = smave.SMAVE(n_components=2, random_state=0).fit(X, y)
>>> model.transform(X).shape
(500, 2)
>>> smave.subspace_distance(model.directions_, truth) < 0.1
True
"""

from smave import datasets
from smave._core import __version__
from smave._estimators import (
    ADE,
    DR,
    MAVE,
    OPG,
    PCA,
    PHD,
    RMAVE,
    SAVE,
    SIR,
    SMAVE,
    PublishedSMAVE,
    SMAVERegressor,
    load,
)
from smave._inference import Bootstrap, DimensionChoice, bootstrap, select_dimension
from smave._subspace import principal_angles, subspace_distance

__all__ = [
    "ADE",
    "DR",
    "MAVE",
    "OPG",
    "PCA",
    "PHD",
    "RMAVE",
    "SAVE",
    "SIR",
    "SMAVE",
    "Bootstrap",
    "DimensionChoice",
    "PublishedSMAVE",
    "SMAVERegressor",
    "__version__",
    "bootstrap",
    "datasets",
    "load",
    "principal_angles",
    "select_dimension",
    "subspace_distance",
]
