"""Data and programs that several tests use."""

from __future__ import annotations

import os
from pathlib import Path

# Before scipy is imported: scikit-learn's checks of the array API are skipped otherwise.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import pytest
import smave

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """300 rows of 6 covariates, of which y depends on two combinations."""
    return smave.datasets.make_sdr(300, 6, link="rational", random_state=1)


@pytest.fixture(scope="session")
def program() -> str:
    """The command line: SMAVE_BIN, or what cargo has built."""
    candidates = [ROOT / "target" / profile / "smave" for profile in ("debug", "release")]
    found = os.environ.get("SMAVE_BIN") or next((str(p) for p in candidates if p.exists()), None)
    if found is None:
        pytest.skip("no command line: set SMAVE_BIN, or run cargo build")
    return found
