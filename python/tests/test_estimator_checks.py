"""scikit-learn's own checks, for every public estimator and without exceptions."""

import smave
from sklearn.utils.estimator_checks import parametrize_with_checks

ESTIMATORS = [
    smave.SMAVE(),
    smave.SMAVERegressor(),
    smave.SMAVE.published(),
    smave.RMAVE(),
    smave.RMAVE(localization="neighbors"),
    smave.MAVE(),
    smave.OPG(),
    smave.OPG(localization="neighbors"),
    smave.OPG(localization="walk"),
    smave.OPG(localization="adaptive"),
    smave.SIR(),
    smave.SAVE(),
    smave.DR(),
    smave.PHD(),
    smave.PHD(residual=True),
    smave.ADE(),
    smave.PCA(),
]


@parametrize_with_checks(ESTIMATORS)
def test_check_estimator(estimator, check):
    check(estimator)


def test_every_public_estimator_is_checked():
    public = {
        name
        for name in smave.__all__
        if isinstance(getattr(smave, name), type) and hasattr(getattr(smave, name), "fit")
    }
    assert public == {type(estimator).__name__ for estimator in ESTIMATORS}
