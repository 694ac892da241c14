"""Views given settings that look alike, or values they refuse."""

import pytest
from sklearn.svm import SVC

from cvnb import Family, Recipe, ridge
from cvnb.widgets import BoundExplorer, CurveExplorer, NestMap
from iris import X, y


def test_settings_that_look_alike_are_told_apart():
    """By their number: a click chooses what was clicked."""
    view = CurveExplorer(
        Recipe(3, 2).run(
            Family(SVC(), {"C": [1.0000001, 1.0000002, 0.01, 100.0]}), X, y
        )
    )
    assert view.wait(30)
    names = {}
    for place in range(4):
        view._clicked(None, type("Points", (), {"point_inds": [place]})())
        assert view.wait(30)
        assert view._form.error == ""
        names[view.theta] = float(view._curve_drawn.axis.x[place])
    assert names == {
        "C=0.01": 0.01,
        "C=1 (setting 0)": 1.0000001,
        "C=1 (setting 1)": 1.0000002,
        "C=100": 100.0,
    }


def test_a_view_shows_nothing_beside_what_it_refuses():
    """No old number, no old picture."""
    bound = BoundExplorer()
    bound.n_settings = 0
    assert bound.wait(30)
    assert bound._form.error
    assert (bound._words.value, bound._chart.value) == ("", "")
    bound.n_settings, bound.delta = 5, 1e-300
    assert bound.wait(30)
    assert "probability 1 − 1e-300 or more" in bound._words.value
    bound.n_dev = 10**30
    assert bound.wait(30)
    assert "more rows than anybody has" in bound._form.error
    nest = NestMap(Recipe(3, 2).plan(X, y))
    nest.row = 500
    assert nest.wait(30)
    assert (nest._map.value, nest._words.value) == ("", "")
    curve = CurveExplorer(Recipe(3, 2).run(ridge(alpha=[0.0, 1.0]), X, X[:, 0]))
    curve.log_x = True
    assert curve.wait(30)
    assert "no logarithm" in curve._form.error
    assert len(curve._curve.widget.data) == 0


def test_a_bound_that_cannot_be_is_said_and_leaves_no_older_number():
    """In the form, in the copy and in the name of the widget."""
    explorer = BoundExplorer()
    explorer.delta = 0.0
    assert explorer.wait(20)
    assert "strictly between 0 and 1" in explorer._form.error
    assert "strictly between 0 and 1" in explorer.snapshot().html
    assert "0.27" not in repr(explorer)
    explorer.close()


def test_what_is_no_plan_is_refused_by_name():
    """With what would be one."""
    with pytest.raises(TypeError, match="NestMap shows a Plan or a result, got Recipe"):
        NestMap(Recipe())
