from collections.abc import Callable
from os import PathLike
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from smave._validation import Rows

__all__ = [
    "Model",
    "__version__",
    "bootstrap",
    "fit",
    "load",
    "make_sdr",
    "principal_angles",
    "select_dimension",
    "subspace_distance",
]

__version__: str

@final
class Model:
    def __new__(cls, text: str) -> Model: ...
    def __reduce__(self) -> tuple[type[Model], tuple[str]]: ...
    @property
    def components(self) -> NDArray[np.float64]: ...
    @property
    def directions(self) -> NDArray[np.float64]: ...
    @property
    def eigenvalues(self) -> NDArray[np.float64]: ...
    @property
    def center(self) -> NDArray[np.float64]: ...
    @property
    def scale(self) -> NDArray[np.float64]: ...
    def facts(self) -> str: ...
    def to_json(self) -> str: ...
    def save(self, path: str | PathLike[str]) -> None: ...
    def transform(
        self, x: NDArray[np.float64] | NDArray[np.float32], n_threads: int
    ) -> NDArray[np.float64]: ...
    def predict(
        self, x: NDArray[np.float64] | NDArray[np.float32], n_threads: int
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]: ...
    def half_widths(self, level: float) -> list[float]: ...
    def loo_error(self) -> float: ...
    def report(
        self,
        rows: Rows,
        path: str | PathLike[str],
        *,
        figures: str | PathLike[str] | None,
        quick: bool,
        n_replicates: int,
        max_dim: int,
        seed: int,
        title: str | None,
        command: str | None,
        n_threads: int,
    ) -> None: ...

def fit(
    rows: Rows,
    settings: dict[str, Any],
    *,
    targets: list[str],
    note: str,
    n_threads: int,
    callback: Callable[[dict[str, Any]], object] | None,
) -> Model: ...
def load(path: str | PathLike[str]) -> Model: ...
def select_dimension(
    rows: Rows,
    *,
    max_dim: int,
    folds: int,
    repeats: int,
    nested: bool,
    second_opinions: bool,
    standardize: bool,
    seed: int,
    n_threads: int,
) -> str: ...
def bootstrap(
    model: Model,
    rows: Rows,
    *,
    n_replicates: int,
    n_permutations: int,
    level: float,
    max_rows: int,
    seed: int,
    n_threads: int,
) -> str: ...
def subspace_distance(a: NDArray[np.float64], b: NDArray[np.float64]) -> float: ...
def principal_angles(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]: ...
def make_sdr(
    n_samples: int,
    n_features: int,
    *,
    link: str,
    covariance: str,
    noise: float,
    density: float,
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
