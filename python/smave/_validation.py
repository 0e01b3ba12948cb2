"""What comes in: arrays, data frames, seeds, numbers of jobs."""

from __future__ import annotations

from numbers import Integral
from typing import Any, TypedDict

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

#: How scikit-learn should hand over X: the extension borrows these as they are.
X_FORMAT: dict[str, Any] = {"dtype": [np.float64, np.float32], "order": "C"}


class Rows(TypedDict):
    """Rows as the extension takes them."""

    x: NDArray[np.float64] | NDArray[np.float32]
    #: One row for each response.
    y: NDArray[np.float64]
    weights: NDArray[np.float64] | None
    names: list[str] | None


def as_rows(
    X: NDArray[Any], y: NDArray[Any], sample_weight: ArrayLike | None, names: list[str] | None
) -> Rows:
    """Rows for the extension: validated X, responses one after another, weights that count."""
    responses = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        weights = np.ascontiguousarray(weights)
    return {"x": X, "y": np.ascontiguousarray(responses.T), "weights": weights, "names": names}


def target_names(y: Any, responses: NDArray[Any]) -> list[str]:
    """Names of the responses: those of a series or a frame, otherwise y, or y1, y2, ..."""
    columns = getattr(y, "columns", None)
    if columns is not None:
        return [str(column) for column in columns]
    name = getattr(y, "name", None)
    if isinstance(name, str) and name:
        return [name]
    if responses.ndim < 2 or responses.shape[1] == 1:
        return ["y"]
    return [f"y{i + 1}" for i in range(responses.shape[1])]


def seed_of(random_state: Any) -> int:
    """An integer is the seed itself, as on the command line; anything else draws one."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def n_threads(n_jobs: int | None) -> int:
    """Threads for scikit-learn's ``n_jobs``."""
    return max(1, int(effective_n_jobs(n_jobs)))
