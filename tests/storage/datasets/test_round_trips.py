"""Every format: what goes out passes the trainer's rules and comes back as it was."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.datasets.example import Example
from storage.datasets.formats import BadRow, export
from storage.datasets.registry import FORMATS
from tests.storage.datasets.examples import LABELS, Album, examples, picture, plan, same, ticket

HARD_ONLY = {"clef-finetune", "mlx-decision", "sysone", "laya-finetune", "jev-eval"}


def _carried(format: str, example: Example) -> tuple[dict[str, str], dict[str, dict[str, float]]]:
    """Labels and shares that a format can carry."""
    labels, soft = dict(example.labels), {key: dict(shares) for key, shares in example.soft.items()}
    return labels, {} if format in HARD_ONLY else soft


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_labels_come_back_as_they_went_out(name: str, data: st.DataObject) -> None:
    album = Album()
    sent = data.draw(examples(album))
    splits = [data.draw(st.sampled_from(["train", "validation", "test"])) for _ in sent]
    with tempfile.TemporaryDirectory() as folder:
        done = export(FORMATS[name], Path(folder), plan(*sent), zip(splits, sent, strict=True), album)
        assert done.problems == []
        bad: list[BadRow] = []
        back = {example.id: (split, example) for split, example in FORMATS[name].read(Path(folder), album, bad.append)}
    assert bad == []
    assert done.total + sum(done.left_out.values()) == len(sent)
    assert len(back) == done.total
    out = {reason_id for ids in done.named.values() for reason_id in ids}
    for split, example in zip(splits, sent, strict=True):
        if example.id in out:
            continue
        got_split, got = back[example.id]
        labels, soft = _carried(name, example)
        assert (got_split, dict(got.labels)) == (split, labels)
        assert same({k: dict(v) for k, v in got.soft.items()}, soft)
        assert same(got.state, example.state)
        assert got.group == example.group
        assert Counter(got.pictures) == Counter(example.pictures)


@pytest.mark.parametrize("name", FORMATS)
def test_a_plain_ticket_goes_everywhere_whole(name: str, tmp_path: Path) -> None:
    sent = ticket()
    done = export(FORMATS[name], tmp_path / "out", plan(sent), [("train", sent)], Album())
    assert (done.total, done.left_out, done.problems) == (1, Counter(), [])
    ((_, got),) = FORMATS[name].read(tmp_path / "out", Album(), pytest.fail)
    assert dict(got.labels) == LABELS
    assert (got.group, got.time, got.source, got.stream) == (sent.group, sent.time, sent.source, sent.stream)
    assert (got.scorer, got.licence) == (sent.scorer, sent.licence)


@pytest.mark.parametrize("name", ["clef-finetune", "dmtune", "hf-parquet", "jsonl", "csv"])
def test_a_picture_goes_along_and_comes_back(name: str, tmp_path: Path) -> None:
    album, other = Album(), Album()
    sent = ticket(pictures=(album.save(picture()),), state="words beside it")
    done = export(FORMATS[name], tmp_path / "out", plan(sent), [("train", sent)], album)
    assert done.total == 1
    ((_, got),) = FORMATS[name].read(tmp_path / "out", other, pytest.fail)
    assert got.state == sent.state
    assert [other.read(sha256) for sha256 in got.pictures] == [picture()]


@pytest.mark.parametrize("name", FORMATS)
def test_a_row_that_cannot_be_read_is_told_with_its_line(name: str, tmp_path: Path) -> None:
    sent = ticket()
    export(FORMATS[name], tmp_path / "out", plan(sent), [("train", sent)], Album())
    (file,) = [p for p in (tmp_path / "out").rglob("train*") if p.is_file()]
    if name == "hf-parquet":
        pytest.skip("a damaged Parquet file is refused as a whole")
    if name == "csv":
        text = file.read_text(encoding="utf-8-sig")
        file.write_text(text + text.splitlines()[1].replace("billing", "nobody") + "\r\n", encoding="utf-8")
    else:
        wrong = file.read_text().replace('"route":"billing"', '"route":"nobody"')
        file.write_text(file.read_text() + "{not json\n" + wrong.replace('{"billing":1.0}', '{"nobody":1.0}'))
    bad: list[BadRow] = []
    good = list(FORMATS[name].read(tmp_path / "out", Album(), bad.append))
    assert len(good) == 1
    assert [row.line for row in bad] == ([3] if name == "csv" else [2, 3])
    assert "nobody" in bad[-1].message


def test_a_file_may_not_point_out_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(picture())
    folder = tmp_path / "out"
    album = Album()
    sent = ticket(pictures=(album.save(picture()),))
    export(FORMATS["clef-finetune"], folder, plan(sent), [("train", sent)], album)
    file = folder / "train.jsonl"
    file.write_text(file.read_text().replace(f"images/{sent.pictures[0]}.png", "../secret.png"))
    bad: list[BadRow] = []
    assert not list(FORMATS["clef-finetune"].read(folder, album, bad.append))
    assert "outside" in bad[0].message
