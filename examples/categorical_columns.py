"""Real data with numbers and categories: patients with diabetes, through ColumnTransformer."""

import numpy as np
import smave
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

data = load_diabetes(as_frame=True, scaled=False)
X, y = data.data, data.target
# The sex is coded 1 and 2, and age groups show how a column of text goes in.
X = X.assign(
    sex=X["sex"].map({1.0: "one", 2.0: "two"}),
    generation=np.where(X["age"] < 40, "young", np.where(X["age"] < 60, "middle", "old")),
)

columns = make_column_transformer(
    (OneHotEncoder(drop="first", sparse_output=False), ["sex", "generation"]),
    remainder=StandardScaler(),
    verbose_feature_names_out=False,
).set_output(transform="pandas")
pipeline = make_pipeline(columns, smave.SMAVERegressor(n_components=1, random_state=0))
scores = cross_val_score(pipeline, X, y, cv=5)
print(f"R^2 in five folds: {scores.mean():.3f} ± {scores.std():.3f}")

model = pipeline.fit(X, y)[-1]
order = np.argsort(-np.abs(model.components_[0]))
for i in order[:6]:
    print(f"{model.feature_names_in_[i]:>18}: {model.components_[0, i]:+.3f}")
