"""What a user of the estimators can observe."""

import json
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
import smave
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

METHODS = [
    smave.SMAVE(random_state=3),
    smave.SMAVERegressor(random_state=3),
    smave.SMAVE.published(random_state=3),
    smave.RMAVE(),
    smave.RMAVE(localization="neighbors"),
    smave.MAVE(),
    smave.OPG(),
    smave.OPG(localization="neighbors"),
    smave.OPG(localization="walk", random_state=3),
    smave.OPG(localization="adaptive", random_state=3),
    smave.SIR(),
    smave.SAVE(),
    smave.DR(),
    smave.PHD(),
    smave.PHD(residual=True),
    smave.ADE(),
    smave.PCA(),
]


def names(model):
    return f"{type(model).__name__}-{getattr(model, 'localization', '')}"


@pytest.mark.parametrize("model", METHODS, ids=names)
def test_what_a_fit_leaves_behind(model, data, tmp_path):
    X, y, _ = data
    model = clone(model).fit(X, y)
    d, p = model.n_components_, X.shape[1]
    assert model.components_.shape == model.directions_.shape == (d, p)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(d), atol=1e-10)
    z = model.transform(X)
    np.testing.assert_allclose(z, (X - model.mean_) @ model.directions_.T, atol=1e-9)
    np.testing.assert_allclose(model.directions_, model.components_ / model.scale_, rtol=1e-12)
    assert model.eigenvalues_.shape == (d,)
    assert np.isfinite(model.loo_error_)
    assert model.n_iter_ >= 1
    assert model.predict(X).shape == y.shape
    # A file, a pickle and joblib give back the same to the bit.
    model.save(tmp_path / "model.json")
    joblib.dump(model, tmp_path / "model.joblib")
    for again in (
        smave.load(tmp_path / "model.json"),
        joblib.load(tmp_path / "model.joblib"),
        pickle.loads(pickle.dumps(model)),
    ):
        assert type(again) is type(model)
        np.testing.assert_array_equal(again.components_, model.components_)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
    loaded = smave.load(tmp_path / "model.json")
    refitted = clone(loaded).fit(X, y)
    np.testing.assert_array_equal(refitted.components_, model.components_)


def test_the_true_directions_are_found(data):
    X, y, truth = data
    model = smave.SMAVE(random_state=0).fit(X, y)
    assert smave.subspace_distance(model.directions_, truth) < 0.1
    assert smave.principal_angles(model.directions_, truth).max() < 0.3
    assert model.n_agreeing_ > 1
    assert len(model.starts_) > 3
    assert len(model.trace_) == model.n_iter_
    assert model.n_neighbors_ > 2
    assert model.stop_reason_ == "settled"


def test_parameters_reach_the_core(data):
    X, y, _ = data
    base = smave.SMAVE(random_state=0).fit(X, y)
    for change in (
        {"n_neighbors": 40},
        {"weights": "uniform"},
        {"refine": False},
        {"tol": 1e-4},
        {"standardize": False},
        {"random_state": 1},
        {"screen": False},
    ):
        other = clone(base).set_params(**change).fit(X, y)
        assert (other.components_ != base.components_).any(), change
    assert smave.SMAVE(n_neighbors=40, random_state=0).fit(X, y).n_neighbors_ == 40
    assert len(smave.SMAVE(n_starts=5, random_state=0).fit(X, y).starts_) == len(base.starts_) + 3
    published = smave.SMAVE.published(max_iter=30, tol=10.0, refresh_every=10).fit(X, y)
    assert (published.n_iter_, published.stop_reason_) == (11, "settled")


def test_threads_do_not_change_the_result(data):
    X, y, _ = data
    fits = [smave.SMAVE(random_state=0, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 2, -1)]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.components_, fits[0].components_)


def test_random_state_follows_scikit_learn(data):
    X, y, _ = data
    first = smave.SMAVE.published(random_state=np.random.RandomState(5)).fit(X, y)
    second = smave.SMAVE.published(random_state=np.random.RandomState(5)).fit(X, y)
    other = smave.SMAVE.published(random_state=np.random.RandomState(6)).fit(X, y)
    np.testing.assert_array_equal(first.components_, second.components_)
    assert (first.components_ != other.components_).any()


def test_the_number_of_directions_can_be_left_to_the_data(data):
    X, y, _ = data
    model = smave.SMAVE("auto", random_state=0).fit(X, y)
    assert model.n_components_ == model.dimension_choice_.n_components == 2
    chosen = smave.select_dimension(X, y, random_state=0)
    np.testing.assert_array_equal(chosen.errors, model.dimension_choice_.errors)


def test_layouts_and_precisions(data):
    X, y, _ = data
    model = smave.SMAVE(random_state=0).fit(X, y)
    for other in (
        np.asfortranarray(X),
        np.repeat(X, 2, axis=0)[::2],
        X.tolist(),
        X[:, ::-1][:, ::-1],
    ):
        again = smave.SMAVE(random_state=0).fit(other, y)
        np.testing.assert_array_equal(again.components_, model.components_)
    single = X.astype(np.float32)
    narrow = smave.SMAVE(random_state=0).fit(single, y)
    wide = smave.SMAVE(random_state=0).fit(single.astype(np.float64), y)
    np.testing.assert_array_equal(narrow.components_, wide.components_)
    assert narrow.transform(single).dtype == np.float64


def test_weights_count_rows(data):
    X, y, _ = data
    rng = np.random.RandomState(0)
    weights = rng.randint(0, 4, len(y))
    order = rng.permutation(weights.sum())
    repeated = np.repeat(X, weights, axis=0)[order], np.repeat(y, weights)[order]
    for model in METHODS:
        a = clone(model).fit(X, y, sample_weight=weights)
        b = clone(model).fit(*repeated)
        np.testing.assert_array_equal(a.components_, b.components_)
        np.testing.assert_array_equal(a.predict(X), b.predict(X))
    some = weights > 0
    a = smave.SMAVE(random_state=0).fit(X, y, sample_weight=some)
    b = smave.SMAVE(random_state=0).fit(X[some], y[some])
    np.testing.assert_array_equal(a.components_, b.components_)


def test_several_responses(data):
    X, y, truth = data
    both = np.column_stack([X @ truth[0], X @ truth[1] + 0.1 * y])
    model = smave.SMAVERegressor(random_state=0).fit(X, both)
    assert smave.subspace_distance(model.directions_, truth) < 0.05
    assert model.predict(X).shape == both.shape
    low, high = model.predict_interval(X)
    assert low.shape == both.shape
    assert (low < high).all()
    assert model.score(X, both) > 0.9
    column = smave.SIR().fit(X, y[:, None])
    assert column.predict(X).shape == (len(y), 1)


def test_predictions_have_intervals_and_know_where_they_end(data):
    X, y, _ = data
    model = smave.SMAVERegressor(random_state=0).fit(X, y)
    low, high = model.predict_interval(X, level=0.9)
    assert 0.85 < ((low <= y) & (y <= high)).mean() < 1.0
    assert model.outside(100 * X[:3] + 100).all()
    assert model.outside(X).mean() < 0.1
    with pytest.raises(ValueError, match="level"):
        model.predict_interval(X, level=2.0)


def test_frames_in_and_out(data, tmp_path):
    X, y, _ = data
    columns = [f"column {i}" for i in range(X.shape[1])]
    plain = smave.SMAVE(random_state=0).fit(X, y)
    for frame, series in (
        (pd.DataFrame(X, columns=columns), pd.Series(y, name="response")),
        (pl.DataFrame(X, schema=columns), pl.Series("response", y)),
    ):
        model = smave.SMAVE(random_state=0).fit(frame, series)
        np.testing.assert_array_equal(model.components_, plain.components_)
        assert list(model.feature_names_in_) == columns
        model.save(tmp_path / "model.json")
        text = json.loads((tmp_path / "model.json").read_text())
        assert [feature["name"] for feature in text["features"]] == columns
        assert text["target"] == "response"
        again = smave.load(tmp_path / "model.json")
        assert list(again.feature_names_in_) == columns
        assert list(model.get_feature_names_out()) == ["smave0", "smave1"]
        for kind, expected in (("pandas", pd.DataFrame), ("polars", pl.DataFrame)):
            out = clone(model).set_output(transform=kind).fit(frame, series).transform(frame)
            assert isinstance(out, expected)
            assert list(out.columns) == ["smave0", "smave1"]
        with pytest.raises(ValueError, match="feature names should match"):
            model.transform(frame[columns[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.transform(X)


def test_in_pipelines_and_searches(data):
    X, y, _ = data
    pipeline = make_pipeline(StandardScaler(), smave.SMAVE(random_state=0), LinearRegression())
    assert pipeline.fit(X, y).score(X, y) > 0.1
    grid = GridSearchCV(
        smave.SMAVERegressor(random_state=0), {"n_components": [1, 2], "n_neighbors": [40, "auto"]}
    )
    assert grid.fit(X, y).best_params_["n_components"] == 2
    assert is_regressor(smave.SMAVERegressor())
    assert not is_regressor(smave.SMAVE())
    assert cross_val_score(smave.SMAVE(random_state=0), X, y).mean() > 0.3


def test_metadata_is_routed(data):
    X, y, _ = data
    weights = np.arange(len(y)) % 3
    direct = smave.SMAVE(random_state=0).fit(X, y, sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = smave.SMAVE(random_state=0).set_fit_request(sample_weight=True)
        inner.set_score_request(sample_weight=True)
        pipeline = make_pipeline(inner).fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(pipeline[-1].components_, direct.components_)
        expected = direct.score(X, y, sample_weight=weights)
        assert pipeline.score(X, y, sample_weight=weights) == expected


def test_callbacks_see_iterations_and_can_stop(data, capsys):
    X, y, _ = data
    seen = []
    model = smave.SMAVE.published(random_state=0, callback=seen.append).fit(X, y)
    assert [s["iteration"] for s in seen] == list(range(100))
    assert seen[3]["objective"] == model.trace_[3]["objective"]
    assert seen[0]["max_iter"] == 100
    stopped = smave.SMAVE.published(random_state=0, callback=lambda s: s["iteration"] == 4)
    assert stopped.fit(X, y).n_iter_ == 5
    assert stopped.stop_reason_ == "cancelled"
    smave.SMAVE(random_state=0, verbose=1).fit(X, y)
    assert "[SMAVE] iteration 1: objective" in capsys.readouterr().out

    def fail(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        smave.SMAVE(random_state=0, callback=fail).fit(X, y)


def test_errors_speak_as_scikit_learn_does(data):
    X, y, _ = data
    with pytest.raises(NotFittedError, match="This SMAVE instance is not fitted yet"):
        smave.SMAVE().transform(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        smave.SMAVE().save("nowhere.json")
    with pytest.raises(ValueError, match="The 'max_iter' parameter of SMAVE must be an int"):
        smave.SMAVE(max_iter=0).fit(X, y)
    with pytest.raises(ValueError, match="The 'weights' parameter of SMAVE must be a str among"):
        smave.SMAVE(weights="gaussian").fit(X, y)
    with pytest.raises(ValueError, match="n_components=7 must be between 1 and n_features=6"):
        smave.SMAVE(7).fit(X, y)
    with pytest.raises(ValueError, match=r"Input X contains NaN"):
        smave.SMAVE().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        smave.SMAVE().fit(X, y[:-1])
    with pytest.raises(ValueError, match="X has 5 features, but SIR is expecting 6 features"):
        smave.SIR().fit(X, y).transform(X[:, :5])
    with pytest.raises(ValueError, match=r"1 sample\(s\)"):
        smave.SMAVE().fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="there is nothing to explain"):
        smave.SMAVE().fit(X, np.ones(len(y)))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        smave.SMAVE().fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        smave.load("nowhere.json")


def test_a_notebook_shows_the_loadings(data):
    X, y, _ = data
    model = smave.SMAVE(random_state=0)
    before = model._repr_html_()
    frame = pd.DataFrame(X, columns=["<b>", *"bcdef"])
    html = model.fit(frame, y)._repr_html_()
    assert len(html) > len(before)
    assert "direction 2" in html
    assert "&lt;b&gt;" in html
    assert "starts agree" in model._repr_mimebundle_()["text/html"]
