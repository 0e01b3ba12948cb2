"""A fitted estimator in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from smave._base import SufficientReduction

#: Covariates and directions that are shown.
MOST_COVARIATES = 12
MOST_DIRECTIONS = 6

STYLE = (
    "font-family:system-ui,sans-serif;font-size:12px;border-collapse:collapse;"
    "margin-top:.5em;font-variant-numeric:tabular-nums"
)
CELL = "padding:2px 10px;text-align:right;border:0"


def summary_html(model: SufficientReduction) -> str:
    """Loadings of the covariates that matter most, as bars and numbers, and how the fit ended."""
    shown = min(MOST_DIRECTIONS, model.n_components_)
    components = model.components_[:shown]
    relevance = np.sqrt((model.components_**2).sum(axis=0))
    order = np.argsort(-relevance, kind="stable")
    listed = order[:MOST_COVARIATES]
    largest = max(float(np.abs(components).max()), np.finfo(float).tiny)
    head = "".join(f'<th style="{CELL}">direction {j + 1}</th>' for j in range(shown))
    rows = [f'<tr><th style="{CELL};text-align:left">covariate</th>{head}</tr>']
    for i in listed:
        cells = "".join(_cell(float(value), largest) for value in components[:, i])
        name = escape(model._names[i])
        rows.append(f'<tr><td style="{CELL};text-align:left">{name}</td>{cells}</tr>')
    if len(order) > len(listed):
        rest = f"{len(order) - len(listed)} more"
        rows.append(
            f'<tr><td style="{CELL};text-align:left" colspan="{shown + 1}">{rest}</td></tr>'
        )
    values = "".join(f'<td style="{CELL}">{value:.4g}</td>' for value in model.eigenvalues_[:shown])
    rows.append(f'<tr><td style="{CELL};text-align:left"><i>eigenvalue</i></td>{values}</tr>')
    idle = int((relevance == 0.0).sum())
    facts = [f"{model.n_components_} of {len(order)} dimensions"]
    if idle:
        facts.append(f"{idle} covariates left out")
    if model.starts_:
        facts.append(f"{model.n_agreeing_} of {len(model.starts_)} starts agree")
        facts.append(f"leave-one-out mean squared error {model.loo_error_:.4g}")
    caption = f'<div style="font-size:12px;margin-top:.3em">{escape("; ".join(facts))}</div>'
    return f'<div><table style="{STYLE}">{"".join(rows)}</table>{caption}</div>'


def _cell(value: float, largest: float) -> str:
    """A loading over a bar as long as it is large."""
    share = 100 * abs(value) / largest
    color = "rgba(31,119,180,.25)" if value >= 0 else "rgba(214,39,40,.25)"
    bar = f"background:linear-gradient(to left,{color} {share:.0f}%,transparent {share:.0f}%)"
    return f'<td style="{CELL};{bar}">{value:.4f}</td>'
