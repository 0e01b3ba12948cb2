"""Memory, time, signals, and many processes or threads."""

import importlib.util
import signal
import subprocess
import sys
import textwrap
import time

import joblib
import numpy as np
import pytest
import smave
from conftest import ROOT
from sklearn.model_selection import GridSearchCV


def python(code, *arguments, **options):
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_a_large_table_is_not_copied():
    """80 MB of float64 in C order: what a fit adds to the peak is far less than another copy."""
    code = """
        import resource, sys, tracemalloc
        import numpy as np
        import smave

        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

        rng = np.random.default_rng(0)
        X = rng.standard_normal((100_000, 100))
        y = X[:, 0] + X[:, 1] ** 2
        smave.SIR().fit(X[:500], y[:500]).predict(X[:500])
        # Memory that random numbers took and gave back is not there to hide a copy in.
        before = peak()
        tracemalloc.start()
        for model in (smave.SIR(), smave.SMAVE.published(max_iter=2, random_state=0)):
            model.fit(X, y).transform(X[:50_000])
        print(peak() - before, tracemalloc.get_traced_memory()[1] / 2**20)
    """
    done = python(code)
    assert done.returncode == 0, done.stderr
    added, by_numpy = map(float, done.stdout.split())
    assert added < 40, f"{added} MB"
    assert by_numpy < 20, f"{by_numpy} MB"


def test_the_layer_costs_less_than_two_milliseconds():
    """A fit from Python against the same call of the extension on validated arrays."""
    from smave import _core

    X, y, _ = smave.datasets.make_sdr(1000, 20, random_state=0)
    model = smave.SIR().fit(X, y)
    rows = {"x": X, "y": y[None, :], "weights": None, "names": None}
    settings = {"method": "sir", "n_components": 2}

    def best(call):
        times = []
        for _ in range(30):
            began = time.perf_counter()
            call()
            times.append(time.perf_counter() - began)
        return min(times)

    core = best(
        lambda: _core.fit(rows, settings, targets=["y"], note="{}", n_threads=1, callback=None)
    )
    whole = best(lambda: model.fit(X, y))
    assert whole - core < 0.002, f"{1e3 * (whole - core):.2f} ms"


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way there")
def test_ctrl_c_interrupts_a_fit_within_a_second():
    code = """
        import sys, time
        import smave

        X, y, _ = smave.datasets.make_sdr(20_000, 60, link="sinusoidal", random_state=0)
        print("ready", flush=True)
        try:
            while True:
                smave.SMAVE(3, n_starts=20, n_jobs=2, random_state=0).fit(X, y)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    for wait in (0.3, 2.0):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "ready\n"
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        began = time.perf_counter()
        assert process.stdout.readline() == "interrupted\n"
        took = time.perf_counter() - began
        assert process.wait() == 0
        assert took < 1.0, f"{took:.2f} s"


def search(n_jobs=None):
    grid = {"n_components": [1, 2], "weights": ["epanechnikov", "uniform"]}
    return GridSearchCV(smave.SMAVERegressor(random_state=0), grid, cv=3, n_jobs=n_jobs)


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_folds_and_grid_points_run_side_by_side(data, backend):
    X, y, _ = data
    serial = search().fit(X, y)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        beside = search().fit(X, y)
    np.testing.assert_array_equal(
        beside.cv_results_["mean_test_score"], serial.cv_results_["mean_test_score"]
    )
    np.testing.assert_array_equal(
        beside.best_estimator_.components_, serial.best_estimator_.components_
    )


def test_a_dask_cluster_gives_the_serial_result():
    pytest.importorskip("dask.distributed")
    spec = importlib.util.spec_from_file_location(
        "grid_search_dask", ROOT / "examples" / "grid_search_dask.py"
    )
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    X, y, _ = smave.datasets.make_sdr(150, 4, link="rational", random_state=0)
    found, serial = example.on_cluster(X, y), example.search().fit(X, y)
    assert found.best_params_ == serial.best_params_
    np.testing.assert_array_equal(
        found.cv_results_["mean_test_score"], serial.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize("name", ["regression_pipeline", "choosing_d", "categorical_columns"])
def test_examples_run(name):
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / f"{name}.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
