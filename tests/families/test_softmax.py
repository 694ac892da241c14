"""knn(weights="softmax"): a temperature beside k, on plain scikit-learn objects."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

import cases
import cvnb
from cvnb import SoftmaxWeights, knn
from cvnb.errors import FamilyError
from cvnb.families.setting_groups import check_parameters


def test_the_weights_are_a_value():
    """They are cloned, pickled, compared and shown by their temperature."""
    weights = SoftmaxWeights(0.2)
    for copy in (clone(weights), pickle.loads(pickle.dumps(weights))):
        assert copy == weights
        assert hash(copy) == hash(weights)
    assert weights != SoftmaxWeights(0.3)
    assert repr(weights) == "SoftmaxWeights(temperature=0.2)"


def test_a_low_temperature_overflows_nowhere():
    """The weights are relative to that of the nearest row."""
    weights = SoftmaxWeights(1e-6)(np.array([[0.1, 0.1, 2.0]]))
    np.testing.assert_array_equal(weights, [[1.0, 1.0, 0.0]])


def test_the_short_hand_has_two_axes_that_are_one_group():
    """Settings read k and temperature, and are validated once."""
    family = knn(
        k=[1, 5], weights="softmax", metric="cosine", temperature=[0.05, 0.5]
    ).resolved("classification", 20)
    assert family.settings[1] == {"k": 1, "temperature": 0.5}
    assert len(check_parameters(family)) == 1
    last = family.candidate(family.settings[1]).steps[-1][1]
    assert last.weights == SoftmaxWeights(0.5)
    default = knn(k=[1], weights="softmax").resolved("classification", 20)
    assert default.settings == [{"k": 1, "temperature": 0.07}]


@pytest.mark.parametrize("temperature", [0.0, -1.0, "warm"])
def test_a_wrong_temperature_is_refused(temperature):
    """With scikit-learn's words."""
    with pytest.raises(FamilyError, match="temperature"):
        knn(weights="softmax", temperature=temperature)


def test_a_temperature_without_softmax_is_refused():
    """It would have no effect."""
    with pytest.raises(FamilyError, match="belongs to weights='softmax'"):
        knn(temperature=0.1)


def test_the_predictor_is_a_plain_pipeline():
    """A chosen temperature is in its weights, and the code of a result names it."""
    family = knn(
        weights="softmax", metric="cosine", temperature=[0.05, 5.0], scale=False
    )
    result = cvnb.nested_cv(family, *cases.data("plain / classes"), outer=3, inner=2)
    chosen = result.chosen[0]["temperature"]
    assert result.path == "shared:knn"
    assert chosen in (0.05, 5.0)
    assert "weights='softmax'" in result.code()
