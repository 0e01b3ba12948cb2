"""A pipeline: scale, reduce to two directions, and regress on them."""

import smave
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y, truth = smave.datasets.make_sdr(2000, 20, link="interaction", random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# SMAVE predicts by itself, by local linear regression on the directions ...
model = smave.SMAVERegressor(n_components=2, random_state=0).fit(X_train, y_train)
low, high = model.predict_interval(X_test, level=0.9)
print(f"R^2 on new rows: {model.score(X_test, y_test):.3f}")
print(f"inside 90% intervals: {((low <= y_test) & (y_test <= high)).mean():.3f}")
print(f"distance to the true subspace: {smave.subspace_distance(model.directions_, truth):.4f}")

# ... or reduces for anything that comes after it.
pipeline = make_pipeline(
    StandardScaler(),
    smave.SMAVE(random_state=0),
    HistGradientBoostingRegressor(random_state=0),
)
search = GridSearchCV(pipeline, {"smave__n_components": [1, 2, 3]}, cv=3)
search.fit(X_train, y_train)
print(f"best: {search.best_params_}, R^2 on new rows: {search.score(X_test, y_test):.3f}")
