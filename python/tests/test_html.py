"""What notebooks show is what the report shows."""

import re

import pytest

import hedgerow as hr


@pytest.fixture
def release(patients, policy):
    return hr.publish(patients, policy, progress=False)


def texts(html: str) -> list[str]:
    """What a reader sees, element by element."""
    body = re.sub(r"<style>.*?</style>", "", html, flags=re.S)
    return [text.strip() for text in re.split(r"<[^>]*>", body) if text.strip()]


def test_parts_are_those_of_the_report(release, policy, patients):
    page = texts(release.report(policy, patients).html)
    for shown in (release, release.check()):
        part = texts(shown._repr_html_())
        sentences = [text for text in part if text.startswith("An attacker who knows")]
        assert len(sentences) == 2 and set(sentences) <= set(page)
        assert "Recomputed" in part
    found = texts(hr.audit([release])._repr_html_())
    assert "matches a person's quasi-identifiers with released rows".replace("'", "&#39;") in [
        text.replace("'", "&#39;") for text in found
    ]
    assert {"Adversary", "Highest confidence", "Breach"} <= set(found) & set(page)


def test_what_is_claimed_is_not_called_recomputed(release):
    for shown in (release.guarantees, release.guarantees[0]):
        part = texts(shown._repr_html_())
        assert "Claimed" in part and "Recomputed" not in part
    assert isinstance(release.guarantees, list) and release.guarantees[0].model == "k-anonymity"


def test_a_policy_shows_roles_and_rules(policy):
    part = texts(policy._repr_html_())
    assert "quasi-identifier" in part and "Required" in part and "Achieved" not in part
    assert any("role" in text for text in part), "its text is there too"


def test_names_are_escaped(patients):
    frame = patients.rename_columns(["<script>", "sex", "disease"])
    policy = hr.Policy({"<script>": hr.Quasi(), "disease": hr.Sensitive()}, [hr.KAnonymity(2)], hr.Cluster())
    release = hr.publish(frame, policy, progress=False)
    audit = hr.audit([release])
    for shown in (release, policy, audit, release.check(), release.guarantees):
        assert "<script>" not in shown._repr_html_()
    assert "<script>" not in release.report(policy, frame)._repr_html_()


def test_styles_are_those_of_the_part_alone(release):
    style = re.search(r"<style>(.*?)</style>", release._repr_html_(), flags=re.S)
    assert style is not None
    assert re.match(r"\.hedgerow-part\{", style.group(1)) and "body{" not in style.group(1)
    depth = 0
    for place, sign in enumerate(style.group(1)):
        depth += (sign == "{") - (sign == "}")
        if depth == 0 and sign == "}":
            rest = style.group(1)[place + 1 :]
            assert rest == "" or rest.startswith(".hedgerow-part{"), "nothing is outside the part's class"
