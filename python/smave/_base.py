"""What all estimators share: validate, call the extension, keep what it found."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    MultiOutputMixin,
    TransformerMixin,
)
from sklearn.metrics import r2_score
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from smave import _core
from smave._html import summary_html
from smave._inference import DimensionChoice, select_dimension
from smave._validation import X_FORMAT, Rows, as_rows, n_threads, seed_of, target_names

#: What a callback is given after each iteration.
Iteration = dict[str, Any]

#: Candidates when the number of directions is chosen by the data.
MAX_AUTO = 6


class SufficientReduction(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, MultiOutputMixin, BaseEstimator
):
    """Base class of estimators that find directions.

    A subclass names its method as on the command line, and says what its parameters are called
    there.
    """

    #: Parameters that go by another name in a model file.
    _names_in_files: ClassVar[Mapping[str, str]] = {
        "n_starts": "random_starts",
        "random_state": "seed",
        "tol": "tolerance",
        "weights": "weighting",
    }

    n_components: int | str | None
    n_jobs: int | None

    #: Set by fit.
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    components_: NDArray[np.float64]
    directions_: NDArray[np.float64]
    eigenvalues_: NDArray[np.float64]
    mean_: NDArray[np.float64]
    scale_: NDArray[np.float64]
    n_components_: int
    n_neighbors_: int | None
    n_iter_: int
    trace_: list[Iteration]
    starts_: list[dict[str, Any]]
    n_agreeing_: int
    stop_reason_: str
    dimension_choice_: DimensionChoice
    _model: _core.Model

    def _method(self) -> str:
        """Name the method as on the command line."""
        raise NotImplementedError

    def _settings(self) -> dict[str, Any]:
        """Give the parameters that the method takes; None where it has a default."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.two_d_labels = False
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates. A C-contiguous array of float64 or float32 is used without a copy.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Response, or several, each counted in standard deviations of its own.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights count rows: 2 is the row twice, 0 leaves it out. They have to add up to 2 or
            more.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._validate_params()
        x, responses = validate_data(
            self, X, y, multi_output=True, y_numeric=True, ensure_min_samples=2, **X_FORMAT
        )
        names = getattr(self, "feature_names_in_", None)
        rows = as_rows(
            x, responses, sample_weight, None if names is None else [str(n) for n in names]
        )
        seed = seed_of(self.random_state) if hasattr(self, "random_state") else 0
        settings = {
            "method": self._method(),
            "n_components": self._dimension(rows, seed),
            "seed": seed,
            **self._settings(),
        }
        note = {
            "class": type(self).__name__,
            "feature_names": names is not None,
            "y_ndim": responses.ndim,
        }
        model = _core.fit(
            rows,
            settings,
            targets=target_names(y, responses),
            note=json.dumps(note),
            n_threads=n_threads(self.n_jobs),
            callback=self._observer(),
        )
        return self._keep(model)

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Reduce rows to their coordinates along the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Coordinates: ``(X - mean_) @ directions_.T``.
        """
        return self._model_or_raise().transform(self._covariates(X), n_threads(self.n_jobs))

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Predict by local linear regression on the reduced coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions, within the range of the responses fitted to.
        """
        predictions, _ = self._model_or_raise().predict(self._covariates(X), n_threads(self.n_jobs))
        return predictions.ravel() if self._y_ndim == 1 else predictions

    def predict_interval(
        self, X: ArrayLike, level: float = 0.9
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Predict intervals that cover a share of new responses.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.
        level : float, default=0.9
            The share of new responses that should lie in their intervals.

        Returns
        -------
        low, high : ndarray of the shape of the predictions
            The ends of the intervals, from leave-one-out errors.
        """
        predictions = self.predict(X)
        half = np.array(self._model.half_widths(level))
        half = half[0] if self._y_ndim == 1 else half
        return predictions - half, predictions + half

    def outside(self, X: ArrayLike) -> NDArray[np.bool_]:
        """Tell which rows lie outside of the data, where predictions are not to be relied on.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.

        Returns
        -------
        ndarray of shape (n_samples,)
            True where a row lies farther from the rows fitted to than they do from each other.
        """
        return self._model_or_raise().predict(self._covariates(X), n_threads(self.n_jobs))[1]

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Coefficient of determination of the predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            True responses.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights.

        Returns
        -------
        float
            :math:`R^2`, 1 at best, averaged over responses.
        """
        return float(r2_score(y, self.predict(X), sample_weight=sample_weight))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that the command line reads as well.

        Parameters
        ----------
        path : path-like
            The file, JSON. :func:`smave.load` reads it.
        """
        check_is_fitted(self)
        self._model.save(path)

    def report(
        self,
        path: str | PathLike[str],
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        quick: bool = False,
        n_replicates: int = 100,
        max_dim: int = 5,
        figures: str | PathLike[str] | None = None,
        title: str | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        """Write one page of what was found, to be opened in any browser.

        It is the page of ``smave report`` on the command line: what to conclude and what not, the
        summary plot, loadings with intervals, the choice of the dimension, predictions.

        Parameters
        ----------
        path : path-like
            The HTML file.
        X : array-like of shape (n_samples, n_features)
            Covariates, usually those fitted to.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Responses.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights that count rows.
        quick : bool, default=False
            Whether to leave out what has to be resampled.
        n_replicates : int, default=100
            Bootstrap replicates.
        max_dim : int, default=5
            Directions up to which prediction errors are compared.
        figures : path-like, default=None
            A folder for the figures as SVG and PNG files.
        title : str, default=None
            The title of the page.
        random_state : int, RandomState instance or None, default=0
            Seed of what is resampled.
        """
        self._model_or_raise().report(
            self._rows(X, y, sample_weight),
            path,
            figures=figures,
            quick=quick,
            n_replicates=n_replicates,
            max_dim=max_dim,
            seed=seed_of(random_state),
            title=title,
            command=f"{self._origin()}\nmodel.report({str(path)!r}, X, y)",
            n_threads=n_threads(self.n_jobs),
        )

    @property
    def loo_error_(self) -> float:
        """Mean squared leave-one-out error of the regression on the directions.

        In the units of the response squared; of several, in standard deviations and added up for
        methods that look at it while they fit, otherwise that of the first.
        """
        return self._model_or_raise().loo_error()

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _dimension(self, rows: Rows, seed: int) -> int:
        """The number of directions asked for, or the one that cross-validation chooses."""
        n_features = rows["x"].shape[1]
        if self.n_components is not None and self.n_components != "auto":
            n_components = int(self.n_components)
            if n_components > n_features:
                raise ValueError(
                    f"n_components={n_components} must be between 1 and n_features={n_features}."
                )
            return n_components
        self.dimension_choice_ = select_dimension(
            rows["x"],
            rows["y"].T,
            sample_weight=rows["weights"],
            max_dim=min(MAX_AUTO, n_features),
            standardize=bool(self._settings().get("standardize", True)),
            random_state=seed,
            n_jobs=self.n_jobs,
        )
        return max(1, self.dimension_choice_.n_components)

    def _origin(self) -> str:
        """What was typed to fit the model, here or on the command line."""
        settings = json.loads(self._model.facts())["settings"] or {}
        typed: str | None = settings.get("command")
        return typed or f"model = smave.{self!r}.fit(X, y)"

    def _observer(self) -> Callable[[Iteration], bool] | None:
        """What is called after each iteration, if anything is."""
        verbose = getattr(self, "verbose", 0)
        callback: Callable[[Iteration], object] | None = getattr(self, "callback", None)
        if not verbose and callback is None:
            return None

        def told(iteration: Iteration) -> bool:
            if verbose:
                moved = iteration["moved"]
                turned = "" if moved is None else f", turned by {moved:.4f}"
                print(
                    f"[{type(self).__name__}] iteration {iteration['iteration'] + 1}: "
                    f"objective {iteration['objective']:.6g}{turned}"
                )
            return callback is not None and bool(callback(iteration))

        return told

    def _keep(self, model: _core.Model) -> Self:
        """Make attributes of what was found."""
        facts = json.loads(model.facts())
        self._model = model
        self._names: list[str] = facts["names"]
        self._y_ndim = ((facts["settings"] or {}).get("python") or {}).get(
            "y_ndim", 1 if len(facts["targets"]) < 2 else 2
        )
        self.components_ = model.components
        self.directions_ = model.directions
        self.eigenvalues_ = model.eigenvalues
        self.mean_ = model.center
        self.scale_ = model.scale
        self.n_components_ = len(self.components_)
        self.n_neighbors_ = facts["n_neighbors"]
        self.trace_ = facts["trace"]
        self.n_iter_ = max(1, len(self.trace_))
        self.starts_ = facts["starts"]
        self.n_agreeing_ = facts["n_agreeing"]
        self.stop_reason_ = facts["stop_reason"]
        return self

    def _model_or_raise(self) -> _core.Model:
        check_is_fitted(self)
        return self._model

    def _covariates(self, X: ArrayLike) -> NDArray[Any]:
        """Covariates of new rows, in the order they were fitted in."""
        check_is_fitted(self)
        checked: NDArray[Any] = validate_data(self, X, reset=False, **X_FORMAT)
        return checked

    def _rows(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Rows:
        """Rows with the covariates and responses that were fitted to."""
        check_is_fitted(self)
        x, responses = validate_data(
            self, X, y, reset=False, multi_output=True, y_numeric=True, **X_FORMAT
        )
        return as_rows(x, responses, sample_weight, self._names)

    def _html_repr(self) -> str:
        html: str = estimator_html_repr(self)
        return html + summary_html(self) if hasattr(self, "_model") else html

    @classmethod
    def _from_settings(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Read parameters from the settings of a model file; those it lacks have their defaults."""
        parameters = {}
        for name, parameter in inspect.signature(cls).parameters.items():
            key = cls._names_in_files.get(name, name)
            if key in settings:
                value = settings[key]
                automatic = value is None and parameter.default == "auto"
                parameters[name] = "auto" if automatic else value
        return parameters
