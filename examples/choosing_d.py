"""How many directions there are, how sure they are, and which covariates matter."""

import smave

X, y, truth = smave.datasets.make_sdr(1000, 8, link="rational", random_state=1)

choice = smave.select_dimension(X, y, max_dim=4, n_repeats=1, random_state=0, n_jobs=-1)
for d, (error, se) in enumerate(zip(choice.errors, choice.standard_errors, strict=True)):
    mark = " <- chosen" if d == choice.n_components else ""
    print(f"{d} directions: error {error:.4f} ± {se:.4f}{mark}")
print(f"the ladle says {choice.ladle}, predictor augmentation {choice.augmentation}")

model = smave.SMAVE(n_components=choice.n_components, random_state=0).fit(X, y)
found = smave.bootstrap(model, X, y, n_replicates=50, n_permutations=99, random_state=0, n_jobs=-1)
for i in (-found.relevance).argsort():
    true = "matters" if truth[:, i].any() else "has no effect"
    interval = f"[{found.relevance_low[i]:.2f}, {found.relevance_high[i]:.2f}]"
    print(
        f"x{i + 1}: relevance {found.relevance[i]:.2f} {interval}, "
        f"p-value {found.p_values[i]:.2f}; in truth it {true}"
    )
