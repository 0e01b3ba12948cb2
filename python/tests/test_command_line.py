"""The same data, seed and settings: the same bits from the command line."""

import json
import re
import subprocess

import numpy as np
import pandas as pd
import pytest
import smave


@pytest.fixture(scope="module")
def table(tmp_path_factory, data):
    X, y, _ = data
    X, y = X[:200], y[:200]
    path = tmp_path_factory.mktemp("data") / "data.csv"
    names = [f"x{i + 1}" for i in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names).assign(y=y, weight=np.arange(len(y)) % 3)
    # Some rows occur twice.
    frame = pd.concat([frame, frame[:7]], ignore_index=True)
    frame.to_csv(path, index=False)
    return path, frame, names


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


CASES = [
    ("smave", smave.SMAVE(random_state=5), []),
    ("smave", smave.SMAVE(3, random_state=5), ["--dim", "3"]),
    ("smave", smave.SMAVE("auto", random_state=5), ["--dim", "auto"]),
    (
        "smave",
        smave.SMAVE(n_neighbors=30, max_iter=3, tol=0.1, standardize=False, random_state=5),
        ["--neighbors", "30", "--max-iter", "3", "--tolerance", "0.1", "--no-standardize"],
    ),
    ("smave-published", smave.SMAVE.published(standardize=True, random_state=5), []),
    ("smave-published", smave.SMAVE.published(random_state=5), ["--no-standardize"]),
    ("rmave", smave.RMAVE(), []),
    ("rmave-knn", smave.RMAVE(localization="neighbors"), []),
    ("mave", smave.MAVE(), []),
    ("opg", smave.OPG(), []),
    ("opg-knn", smave.OPG(localization="neighbors"), []),
    ("opg-walk", smave.OPG(localization="walk", random_state=5), []),
    ("opg-adaptive", smave.OPG(localization="adaptive", random_state=5), []),
    ("ade", smave.ADE(), ["--dim", "1"]),
    ("sir", smave.SIR(), []),
    ("save", smave.SAVE(), []),
    ("dr", smave.DR(), []),
    ("phd", smave.PHD(), []),
    ("phd-residual", smave.PHD(residual=True), []),
    ("pca", smave.PCA(), []),
]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(("method", "model", "flags"), CASES)
def test_bases_are_equal_to_the_bit(program, table, tmp_path, method, model, flags, weighted):
    path, frame, names = table
    if "--dim" not in flags:
        flags = [*flags, "--dim", "2"]
    weights = ["--weights", "weight"] if weighted else ["--drop", "weight"]
    out = tmp_path / "model.json"
    run(
        program, "fit", path, "--target", "y", "--method", method, "--seed", 5, "--out", out,
        *flags, *weights,
    )  # fmt: skip
    model.fit(frame[names], frame["y"], sample_weight=frame["weight"] if weighted else None)
    model.save(tmp_path / "python.json")
    theirs, ours = (json.loads(file.read_text()) for file in (out, tmp_path / "python.json"))
    for one in (theirs, ours):
        for where_from in ("command", "missing", "python"):
            one["settings"].pop(where_from, None)
        one.pop("checksum")
    assert ours == theirs
    again = smave.load(out)
    np.testing.assert_array_equal(again.components_, model.components_)
    np.testing.assert_array_equal(again.predict(frame[names]), model.predict(frame[names]))


def test_the_command_line_reads_what_python_writes(program, table, tmp_path):
    path, frame, names = table
    model = smave.SMAVE(random_state=1).fit(frame[names], frame["y"])
    model.save(tmp_path / "model.json")
    run(program, "transform", tmp_path / "model.json", path, "--out", tmp_path / "z.csv")
    z = pd.read_csv(tmp_path / "z.csv").to_numpy()
    np.testing.assert_array_equal(z[:, -2:], model.transform(frame[names]))
    run(program, "predict", tmp_path / "model.json", path, "--out", tmp_path / "p.csv")
    found = pd.read_csv(tmp_path / "p.csv")
    np.testing.assert_array_equal(found["prediction"], model.predict(frame[names]))
    low, high = model.predict_interval(frame[names])
    np.testing.assert_array_equal(found["low"], low)
    np.testing.assert_array_equal(found["high"], high)


def test_dimension_intervals_and_report_are_the_same(program, table, tmp_path):
    path, frame, names = table
    X, y = frame[names], frame["y"]
    flags = ["--target", "y", "--drop", "weight"]
    run(
        program, "dim", path, *flags, "--max-dim", 2, "--repeats", 1, "--seed", 3,
        "--json", tmp_path / "dim.json",
    )  # fmt: skip
    theirs = json.loads((tmp_path / "dim.json").read_text())
    ours = smave.select_dimension(X, y, max_dim=2, n_repeats=1, random_state=3)
    assert ours.n_components == theirs["chosen"]
    np.testing.assert_array_equal(ours.errors, [at["error"] for at in theirs["curve"]])
    np.testing.assert_array_equal(ours.ladle_curve, theirs["ladle"]["curve"])

    run(program, "fit", path, *flags, "--dim", 2, "--out", tmp_path / "model.json")
    model = smave.load(tmp_path / "model.json")
    run(
        program, "explain", tmp_path / "model.json", path, "--replicates", 20,
        "--permutations", 19, "--seed", 3, "--json", tmp_path / "explain.json",
    )  # fmt: skip
    theirs = json.loads((tmp_path / "explain.json").read_text())
    ours = smave.bootstrap(model, X, y, n_replicates=20, n_permutations=19, random_state=3)
    p_values = {one["name"]: one["p_value"] for one in theirs["covariates"]}
    assert dict(zip(ours.feature_names, ours.p_values, strict=True)) == p_values

    run(
        program, "report", tmp_path / "model.json", path, "--replicates", 20, "--max-dim", 2,
        "--out", tmp_path / "theirs.html",
    )  # fmt: skip
    model.report(tmp_path / "ours.html", X, y, n_replicates=20, max_dim=2)
    pages = [(tmp_path / name).read_text() for name in ("theirs.html", "ours.html")]
    # But for where the rows come from and what was typed.
    where_from = re.compile(r'<code>.*?</code>|<tr>\s*<th scope="row">Data</th>.*?</tr>', re.DOTALL)
    theirs, ours = (where_from.sub("", page) for page in pages)
    assert ours.split() == theirs.split()
