"""A grid search on a Dask cluster: two worker processes here, any number anywhere else."""

import joblib
import smave
from dask.distributed import Client, LocalCluster
from sklearn.model_selection import GridSearchCV


def search() -> GridSearchCV:
    """A grid over the number of directions and the size of neighborhoods."""
    grid = {"n_components": [1, 2], "n_neighbors": ["auto", 60]}
    return GridSearchCV(smave.SMAVERegressor(random_state=0), grid, cv=3)


def on_cluster(X, y) -> GridSearchCV:
    """Fit it with the folds and grid points spread over two processes."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        return search().fit(X, y)


if __name__ == "__main__":
    X, y, _ = smave.datasets.make_sdr(400, 6, link="rational", random_state=0)
    found, serial = on_cluster(X, y), search().fit(X, y)
    print(f"best: {found.best_params_}, R^2 {found.best_score_:.3f}")
    same = (found.cv_results_["mean_test_score"] == serial.cv_results_["mean_test_score"]).all()
    print(f"the same as without a cluster: {same}")
