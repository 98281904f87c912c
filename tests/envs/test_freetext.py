"""FreeText: what it holds, and that it survives whatever Gymnasium does with spaces."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.spaces.utils import (
    flatdim,
    flatten,
    flatten_space,
    is_space_dtype_shape_equiv,
    unflatten,
)
from gymnasium.vector import utils
from hypothesis import given
from hypothesis import strategies as st

from cirrus_env.envs.spaces import FreeText

TEXTS = st.text(st.characters(codec="utf-8"), max_size=40)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("", True),
        ("退款 🙂\0\n", True),
        ("x" * 20, True),
        ("x" * 21, False),
        ("a\ud800", False),
        ("\udfff", False),
        (b"x", False),
        (7, False),
        (None, False),
        (["x"], False),
    ],
)
def test_holds_what_encodes_within_its_bounds(text, inside):
    assert (text in FreeText(20)) is inside


def test_lower_bound():
    assert "" not in FreeText(5, min_length=1)
    assert "a" in FreeText(5, min_length=1)


def test_repr_is_short():
    assert repr(FreeText(1_000_000, min_length=2)) == "FreeText(2, 1000000)"


def test_equality_looks_at_bounds_and_not_at_other_spaces():
    assert FreeText(5) == FreeText(5)
    assert FreeText(5) != FreeText(6)
    assert FreeText(5, min_length=1) != FreeText(5)
    assert spaces.Text(5, min_length=0) != FreeText(5)
    assert FreeText(5) != spaces.Text(5, min_length=0)


@pytest.mark.parametrize("charset", ["", "a\ud800", frozenset("ab"), ["a"]])
def test_the_charset_is_an_ordered_string(charset):
    with pytest.raises(ValueError, match="charset"):
        FreeText(5, charset=charset)


def test_samples_follow_the_seed_and_lie_in_the_space():
    first, second = FreeText(1000, seed=3), FreeText(1000, seed=3)
    drawn = [first.sample() for _ in range(50)]
    assert drawn == [second.sample() for _ in range(50)]
    assert all(text in first for text in drawn)
    assert len(set(drawn)) > 40
    assert any(not text.isascii() for text in drawn)


def test_the_sampling_order_is_the_order_given():
    forward = FreeText(30, charset="ab", seed=1).sample()
    backward = FreeText(30, charset="ba", seed=1).sample()
    assert forward.translate(str.maketrans("ab", "ba")) == backward


def test_sampling_takes_the_masks_of_text():
    space = FreeText(50, charset="abc", seed=0)
    assert space.sample(mask=(4, np.array([0, 1, 0], dtype=np.int8))) == "bbbb"
    assert set(space.sample(mask=(None, np.array([0, 0, 1], dtype=np.int8)))) <= {"c"}
    assert space.sample(probability=(3, np.array([1.0, 0, 0]))) == "aaa"
    assert len(space.sample(mask=(7, None))) == 7


def test_survives_pickle_and_deepcopy_with_the_state_of_its_sampling():
    space = FreeText(30, min_length=1, seed=5)
    space.sample()
    for other in (pickle.loads(pickle.dumps(space)), copy.deepcopy(space)):
        assert other == space
        assert isinstance(other, FreeText)
    assert pickle.loads(pickle.dumps(space)).sample() == space.sample()


def test_jsonable_there_and_back():
    space = FreeText(10)
    assert space.from_jsonable(space.to_jsonable(["a", "退"])) == ["a", "退"]


@given(TEXTS)
def test_flatten_and_back(text):
    space = FreeText(40)
    flat = flatten(space, text)
    assert flat in flatten_space(space)
    assert flat.shape == (flatdim(space),) == (40,)
    assert unflatten(space, flat) == text


def test_flattening_a_dict_with_text():
    space = spaces.Dict(a=FreeText(4), b=spaces.Discrete(3))
    point = {"a": "退款", "b": 2}
    flat = flatten(space, point)
    assert flat in flatten_space(space)
    assert unflatten(space, flat) == point


def test_flattening_what_is_not_in_the_space_says_so():
    with pytest.raises(ValueError, match=r"not in FreeText\(0, 2\)"):
        flatten(FreeText(2), "abc")
    with pytest.raises(ValueError, match="no text"):
        unflatten(FreeText(2), np.array([0xD800, 1], dtype=np.int32))


def test_batches_into_a_tuple_that_samples_apart():
    batched = utils.batch_space(FreeText(50, seed=1), 3)
    assert isinstance(batched, spaces.Tuple)
    assert batched.spaces == (FreeText(50),) * 3
    assert len(set(batched.sample())) == 3
    assert batched.sample() in batched


def test_batches_of_differing_spaces():
    batched = utils.batch_differing_spaces([FreeText(5), FreeText(5)])
    assert ("a", "退") in batched


def test_which_spaces_a_vector_environment_may_mix():
    assert is_space_dtype_shape_equiv(FreeText(5), FreeText(5, charset="ab"))
    assert not is_space_dtype_shape_equiv(FreeText(5), FreeText(6))
    assert not is_space_dtype_shape_equiv(FreeText(5), spaces.Text(5))


def test_batch_helpers():
    space = FreeText(5, min_length=1)
    assert utils.create_empty_array(space, 2) in utils.batch_space(space, 2)
    assert utils.concatenate(space, ["a", "退"], None) == ("a", "退")
    assert list(utils.iterate(utils.batch_space(space, 2), ("a", "退"))) == ["a", "退"]


def shared(space, n):
    memory = utils.create_shared_memory(space, n)
    return memory, utils.read_from_shared_memory(space, memory, n)


def test_the_shared_view_follows_what_is_written():
    space = FreeText(10)
    memory, view = shared(space, 3)
    assert view == ("", "", "")
    utils.write_to_shared_memory(space, 1, "退款🙂", memory)
    assert view == ("", "退款🙂", "")
    kept = copy.deepcopy(view)
    utils.write_to_shared_memory(space, 1, "b", memory)
    assert view[1] == "b"
    assert kept == ("", "退款🙂", "")
    assert type(kept) is tuple


def test_the_shared_view_behaves_as_a_tuple():
    space = FreeText(10)
    memory, view = shared(space, 2)
    utils.write_to_shared_memory(space, 0, "a", memory)
    utils.write_to_shared_memory(space, 1, "b", memory)
    first, second = view
    assert (first, second) == ("a", "b") == (*view,)
    assert view in utils.batch_space(space, 2)
    assert view[-1] == "b"
    assert view[:1] == ("a",)
    assert view != ("a", "c")
    assert view == copy.copy(view) == pickle.loads(pickle.dumps(view))
    assert "b" in view
    assert (view.index("b"), view.count("b"), len(view)) == (1, 1, 2)
    assert view + ("c",) == ("a", "b", "c")  # noqa: RUF005  # the operator is what is tested
    assert view * 2 == ("a", "b", "a", "b")
    assert repr(view) == "('a', 'b')"
    with pytest.raises(IndexError):
        view[2]


def test_a_text_too_long_for_shared_memory_names_the_mend():
    space = FreeText(100, shared_bytes=8)
    memory, _ = shared(space, 1)
    with pytest.raises(ValueError, match="shared_memory=False"):
        utils.write_to_shared_memory(space, 0, "退款退款", memory)


@given(st.lists(TEXTS, min_size=2, max_size=2))
def test_shared_memory_returns_any_text(texts):
    space = FreeText(40)
    memory, view = shared(space, 2)
    for i, text in enumerate(texts):
        utils.write_to_shared_memory(space, i, text, memory)
    assert view == tuple(texts)
