"""Policies: every way to give one, and how they are refused."""

import math

import pytest

import hedgerow as hr


def test_typed_classes_a_dict_and_a_file_are_the_same_policy(tmp_path):
    typed = hr.Policy(
        attributes={
            "name": hr.Identifier(),
            "zip code": hr.Quasi(mask=5),
            "age": hr.Quasi(widths=[5, 10, 20], range=(0, 120)),
            "disease": hr.Sensitive(),
            "ward": "plain",
        },
        rules=[hr.KAnonymity(5), hr.TCloseness("disease", 0.3), hr.Rule([hr.DistinctLDiversity("disease", 3)], know=["age"])],
        method=hr.FullDomain(suppression=0.02),
        source="patients.csv",
    )
    document = {
        "source": {"path": "patients.csv"},
        "attributes": {
            "name": {"role": "identifier"},
            "zip code": {"role": "quasi", "hierarchy": {"mask": 5}},
            "age": {"role": "quasi", "hierarchy": {"widths": [5, 10, 20]}, "range": [0, 120]},
            "disease": {"role": "sensitive"},
            "ward": {"role": "plain"},
        },
        "rule": [
            {"require": {"model": "k-anonymity", "k": 5}},
            {"protect": "disease", "require": {"model": "t-closeness", "t": 0.3}},
            {"know": ["age"], "protect": "disease", "require": {"model": "distinct-l-diversity", "l": 3}},
        ],
        "publish": {"method": "full-domain", "suppression": 0.02},
    }
    from_dict = hr.Policy.from_dict(document)
    assert typed.to_toml() == from_dict.to_toml()
    (tmp_path / "policy.toml").write_text(typed.to_toml())
    assert hr.Policy.from_toml(typed.to_toml()).to_toml() == typed.to_toml()
    assert hr.Policy.load(tmp_path / "policy.toml").attributes == typed.attributes
    assert typed.method == "full-domain"


def test_models_about_some_classes_alone():
    policy = hr.Policy(
        attributes={"age": hr.Quasi(), "disease": hr.Sensitive()},
        rules=[
            hr.RhoBreach("disease", 0.1, 0.5, values=["HIV"], below=5),
            hr.BeliefChange("disease", 2.5, distance="relative"),
            hr.DistinctLDiversity("disease", 2, having=["HIV", "flu"], below=7),
        ],
    )
    text = policy.to_toml()
    assert hr.Policy.from_toml(text).to_toml() == text
    for part in ('"rho-breach"', "below = 5", '"relative"', 'having = ["HIV", "flu"]', "below = 7"):
        assert part in text, text
    with pytest.raises(TypeError):
        hr.KAnonymity(5, below=9)
    with pytest.raises(hr.PolicyError, match="must exceed"):
        hr.Policy(
            attributes={"age": hr.Quasi(), "disease": hr.Sensitive()}, rules=[hr.RhoBreach("disease", 0.5, 0.5)]
        )


@pytest.mark.parametrize("text", ['quote "', "back\\slash", "line\nbreak", "tab\t", "é", "\x7f", "a.b", "", "#"])
def test_names_with_odd_characters(text):
    name = text or "empty"
    policy = hr.Policy(attributes={name: hr.Quasi()}, rules=[hr.KAnonymity(2)])
    assert list(policy.attributes) == [name]


def test_what_is_wrong_is_told_as_in_a_file():
    with pytest.raises(hr.PolicyError) as caught:
        hr.Policy(attributes={"age": hr.Quasi(widths=[5, 7])}, rules=[hr.KAnonymity(0)])
    error = caught.value
    assert error.exit_code == 2 and len(error.problems) == 2 and error.hint
    assert any("rule[1].require.k" in place for place, _, _ in error.problems)
    with pytest.raises(hr.PolicyError, match="must be a number"):
        hr.Policy(attributes={"a": hr.Quasi(), "b": hr.Sensitive()}, rules=[hr.TCloseness("b", math.nan)])
    with pytest.raises(hr.PolicyError, match="no rule"):
        hr.Policy(attributes={"a": hr.Quasi()})
    with pytest.raises(TypeError, match="cannot hold a value of type object"):
        hr.Policy(attributes={"a": {"role": object()}}, rules=[hr.KAnonymity(2)])
    with pytest.raises(hr.PolicyError, match="no-such-policy"):
        hr.Policy.load("no-such-policy.toml")
    assert issubclass(hr.PolicyError, hr.HedgerowError)


def test_no_release_is_an_answer_with_reasons(patients):
    policy = hr.Policy(
        attributes={"age": hr.Quasi(), "disease": hr.Sensitive()}, rules=[hr.DistinctLDiversity("disease", 9)]
    )
    with pytest.raises(hr.Unsatisfiable) as caught:
        hr.publish(patients, policy, progress=False)
    assert caught.value.exit_code == 3 and caught.value.reasons


def test_a_policy_without_a_source_needs_a_frame(policy):
    with pytest.raises(hr.InputError, match="names no source"):
        hr.publish(None, policy, progress=False)


def test_columns_that_no_table_can_hold_are_refused_by_name(policy):
    import pyarrow as pa

    nested = pa.table({"age": [[1], [2]], "sex": ["f", "m"], "disease": ["a", "b"]})
    with pytest.raises(hr.InputError, match="`age` has the type List"):
        hr.publish(nested, policy, progress=False)
    empty = pa.table({"age": pa.array([], pa.int64()), "sex": pa.array([], pa.string()), "disease": pa.array([], pa.string())})
    with pytest.raises(hr.InputError, match="no rows"):
        hr.publish(empty, policy, progress=False)
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["age", "age"])
    with pytest.raises(hr.InputError, match="age"):
        hr.publish(twice, policy, progress=False)
    with pytest.raises(hr.InputError, match="sex"):
        hr.publish(pa.table({"age": [1, 2]}), policy, progress=False)
