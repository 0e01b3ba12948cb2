"""Functions, plots and the report."""

import matplotlib as mpl
import numpy as np
import pytest
import smave
import smave.plot

mpl.use("agg")


@pytest.fixture(scope="module")
def model(data):
    return smave.SMAVE(random_state=0).fit(*data[:2])


@pytest.fixture(scope="module")
def found(model, data):
    return smave.bootstrap(
        model, *data[:2], n_replicates=20, n_permutations=19, random_state=0, n_jobs=2
    )


def test_the_dimension_is_chosen(data):
    X, y, _ = data
    choice = smave.select_dimension(X, y, max_dim=3, n_repeats=1, random_state=0, nested=True)
    assert choice.n_components == 2
    assert choice.errors.shape == choice.standard_errors.shape == (4,)
    assert choice.ladle == choice.augmentation == 2
    assert choice.nested_error > choice.errors.min() * 0.8
    plain = smave.select_dimension(
        X, y, max_dim=3, n_repeats=1, random_state=0, second_opinions=False
    )
    np.testing.assert_array_equal(plain.errors, choice.errors)
    assert plain.ladle is None
    assert plain.nested_error is None


def test_the_bootstrap_tells_what_matters(model, found, data):
    X, y, truth = data
    assert found.loadings.shape == model.directions_.shape
    np.testing.assert_allclose(found.loadings, model.directions_, rtol=1e-12)
    assert (found.loadings_low <= found.loadings).all()
    assert (found.loadings <= found.loadings_high).all()
    active = truth.any(axis=0)
    assert found.p_values[active].max() <= found.p_values[~active].min()
    frame = found.to_frame()
    assert frame["relevance"].is_monotonic_decreasing
    assert list(frame.columns)[-2:] == ["direction 1", "direction 2"]
    again = smave.bootstrap(model, X, y, n_replicates=20, n_permutations=19, random_state=0)
    np.testing.assert_array_equal(again.loadings_low, found.loadings_low)
    with pytest.raises(ValueError, match="replicates"):
        smave.bootstrap(model, X, y, n_replicates=2)


def test_subspaces_are_compared():
    a = np.eye(4)[:2]
    turn = np.array([[3.0, 1.0], [0.0, 2.0]])
    assert smave.subspace_distance(a, turn @ a) < 1e-28
    assert smave.subspace_distance(a, np.eye(4)[2:]) == pytest.approx(2.0)
    np.testing.assert_allclose(smave.principal_angles(a, np.eye(4)[1:3]), [0, np.pi / 2])
    with pytest.raises(ValueError, match="rows of the"):
        smave.subspace_distance(a, np.eye(5)[:2])
    with pytest.raises(ValueError, match="Expected 2D array"):
        smave.principal_angles(a, [1.0, 2.0])


def test_data_are_made():
    X, y, truth = smave.datasets.make_sdr(50, 6, link="sinusoidal", random_state=4)
    again = smave.datasets.make_sdr(50, 6, link="sinusoidal", random_state=4)
    np.testing.assert_array_equal(X, again[0])
    np.testing.assert_array_equal(y, again[1])
    np.testing.assert_allclose(truth @ truth.T, np.eye(2), atol=1e-12)
    with pytest.raises(ValueError, match="one of polynomial"):
        smave.datasets.make_sdr(50, 6, link="cubic")


def test_pictures_are_drawn(model, found, data):
    X, y, _ = data
    assert len(smave.plot.summary(model, X, y).collections) == 1
    assert smave.plot.summary(smave.ADE().fit(X, y), X, y).get_ylabel() == "response"
    assert len(smave.plot.loadings(found, direction=1).collections) == 1
    assert len(smave.plot.loadings(model, n_features=3).get_yticklabels()) == 3
    choice = smave.select_dimension(X, y, max_dim=2, n_repeats=1, random_state=0)
    ax = smave.plot.dimension(choice)
    assert smave.plot.trace(model, ax=ax) is ax
    mpl.pyplot.close("all")


def test_the_report_is_a_page(model, data, tmp_path):
    X, y, _ = data
    model.report(
        tmp_path / "report.html", X, y, quick=True, figures=tmp_path / "figures", title="A title"
    )
    page = (tmp_path / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "A title" in page
    assert "smave.SMAVE(random_state=0).fit(X, y)" in page
    assert (tmp_path / "figures" / "summary.svg").exists()
    assert (tmp_path / "figures" / "summary.png").exists()
    model.report(tmp_path / "full.html", X, y, n_replicates=20, max_dim=2)
    assert len((tmp_path / "full.html").read_text()) > len(page)
