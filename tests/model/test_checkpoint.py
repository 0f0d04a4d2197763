"""Checkpoints: what is missing or wrong is told by name, and what is written opens to the same logits."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from model.backbone import choose_device, choose_dtype
from model.checkpoint import CheckpointError, _bar, file_hash, find, tensor_shapes
from model.clef import Clef, open_clef
from model.head import HeadConfig, JointSchemaHead
from model.questions import Limits, StateError
from model.scorer import Request
from model.state import State
from tests.model.golden import CASES, RELEASE, request


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A copy to damage."""
    folder = tmp_path / "release"
    folder.mkdir()
    for path in RELEASE.iterdir():
        shutil.copyfile(path, folder / path.name)
    return folder


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def edit_tensors(path: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path, metadata={"format": "pt"})


def told(folder: Path) -> str:
    with pytest.raises(CheckpointError) as failure:
        open_clef(folder, device="cpu")
    return str(failure.value)


@pytest.mark.parametrize(
    "name",
    [
        "config.json",
        "tokenizer.json",
        "model.safetensors",
        "joint_head.safetensors",
        "joint_head_config.json",
        "processor_config.json",
    ],
)
def test_a_missing_file_is_named(release: Path, name: str) -> None:
    (release / name).unlink()
    assert f"lacks {name}; fetch the whole checkpoint" in told(release)


def test_missing_shards_are_named(release: Path) -> None:
    index = {
        "metadata": {},
        "weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"},
    }
    (release / "model.safetensors").rename(release / "model-00001-of-00002.safetensors")
    (release / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    assert "lacks model-00002-of-00002.safetensors" in told(release)


@pytest.mark.parametrize("name", ["model.safetensors", "joint_head.safetensors"])
def test_a_download_that_broke_off_is_named(release: Path, name: str) -> None:
    data = (release / name).read_bytes()
    (release / name).write_bytes(data[:-100])
    assert f"{name} has {len(data) - 100:,} bytes of {len(data):,}" in told(release)
    (release / name).write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    assert f"{name} is not a safetensors file" in told(release)


def test_wrong_tensors_of_the_head_are_named(release: Path) -> None:
    def change(tensors: dict[str, torch.Tensor]) -> None:
        del tensors["field_norm.weight"]
        tensors["residual_gate"] = torch.zeros(1)
        tensors["extra"] = torch.zeros(2)

    edit_tensors(release / "joint_head.safetensors", change)
    message = told(release)
    assert "joint_head.safetensors" in message
    assert "missing: field_norm.weight" in message
    assert "not known: extra" in message
    assert "wrong shape: residual_gate is [1] and should be []" in message


def test_wrong_tensors_of_the_backbone_are_named(release: Path) -> None:
    def change(tensors: dict[str, torch.Tensor]) -> None:
        del tensors["model.language_model.layers.1.mlp.up_proj.weight"]
        tensors["lm_head.weight"] = torch.zeros(1280, 63)
        tensors["model.language_model.layers.9.extra"] = torch.zeros(2)

    edit_tensors(release / "model.safetensors", change)
    message = told(release)
    assert "missing: model.language_model.layers.1.mlp.up_proj.weight" in message
    assert "not known: model.language_model.layers.9.extra" in message
    assert "wrong shape: lm_head.weight is [1280, 63] and should be [1280, 64]" in message


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("joint_head_config.json", lambda c: c.pop("heads"), "lacks heads"),
        ("joint_head_config.json", lambda c: c.update(depth=3), "has depth, which this head does not know"),
        ("joint_head_config.json", lambda c: c.update(width="wide"), "joint_head_config.json: "),
        ("joint_head_config.json", lambda c: c.update(heads=5), "not a multiple of heads 5"),
        ("joint_head_config.json", lambda c: c.update(hidden_size=32), "made for another backbone"),
        ("processor_config.json", lambda c: c["image_processor"].pop("patch_size"), "patch_size"),
        ("config.json", lambda c: c.update(model_type="no_such_model"), "no_such_model"),
        (
            "config.json",
            lambda c: c["vision_config"].update(patch_size=14),
            "cuts by 16, but config.json has patch_size 14",
        ),
        ("config.json", lambda c: c.update(image_token_id=7), "<|image_pad|> is token 1205"),
    ],
)
def test_settings_that_are_wrong_are_named(
    release: Path, name: str, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    edit(release / name, change)
    assert words in told(release)


def test_dropout_is_a_setting_of_training(release: Path) -> None:
    edit(release / "joint_head_config.json", lambda c: c.update(dropout=0.1))
    assert find(release).head_config == find(RELEASE).head_config


def test_a_file_that_is_not_json_is_named(release: Path) -> None:
    (release / "config.json").write_text("{", encoding="utf-8")
    assert "config.json is not JSON" in told(release)
    (release / "config.json").write_text("[]", encoding="utf-8")
    assert "config.json is not a JSON object" in told(release)


def test_a_source_that_is_nowhere() -> None:
    for source in ("no/such/folder/at/all", "./missing", "missing"):
        with pytest.raises(CheckpointError, match="neither a folder nor a hub name"):
            find(source)


def test_a_hub_name_that_cannot_be_reached_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import huggingface_hub

    real = huggingface_hub.snapshot_download

    def offline(*args: Any, **options: Any) -> str:
        return str(real(*args, **options, cache_dir=tmp_path, local_files_only=True))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    heard = []
    with pytest.raises(CheckpointError, match="not on this machine, and the hub cannot be reached; go online"):
        find("Cloudflare/clef-flash", progress=lambda text, share: heard.append((text, share)))
    assert heard == [("looking for Cloudflare/clef-flash", None)]


def test_a_hub_name_opens_the_folder_that_was_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {}

    def fetched(repository: str, **options: Any) -> str:
        asked.update(options, repository=repository)
        return str(RELEASE)

    monkeypatch.setattr("huggingface_hub.snapshot_download", fetched)
    found = find("Cloudflare/clef-flash@abc")
    assert (found.name, found.folder, found.revision) == ("Cloudflare/clef-flash@abc", RELEASE, RELEASE.name)
    assert (asked["repository"], asked["revision"]) == ("Cloudflare/clef-flash", "abc")


def test_a_fetch_tells_its_share_of_bytes() -> None:
    heard: list[tuple[str, float | None]] = []
    bar = _bar("a/b", lambda text, share: heard.append((text, share)))
    with bar(total=4_000_000_000, unit="B", desc="Reconstructing") as told_bar:
        told_bar.update(1_000_000_000)
        told_bar.update(3_000_000_000)
    with bar(total=3, unit="it", desc="Fetching 3 files") as files:
        files.update(1)
    assert heard == [("fetching a/b: 1.0 of 4.0 GB", 0.25), ("fetching a/b: 4.0 of 4.0 GB", 1.0)]


def test_the_studio_file_states_what_the_release_cannot(release: Path) -> None:
    assert find(release).question_ids == "literal"
    said = {"question_ids": "neutral", "name": "Support", "notice": "tuned on tickets"}
    (release / "studio.json").write_text(json.dumps(said), encoding="utf-8")
    info = open_clef(release, device="cpu").info
    assert (info.name, info.question_ids, info.notice) == ("Support", "neutral", "tuned on tickets")
    assert open_clef(release, device="cpu", question_ids="literal").info.question_ids == "literal"
    (release / "studio.json").write_text('{"question_ids": "loud"}', encoding="utf-8")
    assert "write literal or neutral" in told(release)


def test_fingerprints_tell_checkpoints_apart(release: Path) -> None:
    first = find(RELEASE).fingerprint()
    assert find(release).fingerprint() == first
    for name, change in (
        ("joint_head.safetensors", lambda t: t["residual_gate"].add_(0.5)),
        ("model.safetensors", lambda t: t["lm_head.weight"][7].add_(0.5)),
    ):
        before = find(release).fingerprint()
        edit_tensors(release / name, change)
        assert find(release).fingerprint() != before
    before = find(release).fingerprint()
    edit(release / "processor_config.json", lambda c: c["image_processor"]["size"].update(shortest_edge=1024))
    assert find(release).fingerprint() != before


def test_large_files_are_hashed_by_samples(tmp_path: Path) -> None:
    path = tmp_path / "large"
    size = (64 << 20) + 123
    with path.open("wb") as file:
        file.truncate(size)
    first = file_hash(path)
    for place in (0, size // 65 * 10, size - 1):
        with path.open("r+b") as file:
            file.seek(place)
            file.write(b"x")
        assert file_hash(path) != first
        first = file_hash(path)
    with path.open("ab") as file:
        file.write(b"\0")
    assert file_hash(path) != first


@pytest.mark.parametrize("shards", [False, True])
def test_what_is_saved_opens_to_the_same_logits(
    clef: Clef, tmp_path: Path, shards: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shards:
        monkeypatch.setattr("model.checkpoint._SHARD_SIZE", "400KB")
    folder = tmp_path / "deep" / "saved"
    clef.save(folder)
    names = {path.name for path in folder.iterdir()}
    assert {path.name for path in RELEASE.iterdir()} - names == ({"model.safetensors"} if shards else set())
    assert ("model.safetensors.index.json" in names) == shards
    assert [path.name for path in folder.parent.iterdir()] == ["saved"]
    head = load_file(folder / "joint_head.safetensors")
    assert {name: tuple(t.shape) for name, t in head.items()} == tensor_shapes(RELEASE / "joint_head.safetensors")
    again = open_clef(folder, device="cpu")
    requests = [request(CASES[0]), request(CASES[-1])]
    clef.states.forget()  # what is kept of states changes the last digits
    assert [r.logits for r in again.score(requests)] == [r.logits for r in clef.score(requests)]


def test_saving_never_writes_over_something(clef: Clef, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(CheckpointError, match="exists and is not empty"):
        clef.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]


@pytest.fixture(params=["llama", "qwen2"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """A causal backbone of another family, and a head for it in a folder of its own."""
    import transformers

    size = {
        "vocab_size": 1280,
        "hidden_size": 48,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
    }
    torch.manual_seed(5)
    if request.param == "llama":
        model: Any = transformers.LlamaForCausalLM(transformers.LlamaConfig(**size))
    else:
        model = transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**size, tie_word_embeddings=True))
    backbone, head = tmp_path / "backbone", tmp_path / "head"
    model.save_pretrained(backbone)
    shutil.copyfile(RELEASE / "tokenizer.json", backbone / "tokenizer.json")
    head.mkdir()
    config = HeadConfig(hidden_size=48, width=16, routing_layers=1, layers=2, heads=2, feedforward=32)
    (head / "joint_head_config.json").write_text(json.dumps(config.json()), encoding="utf-8")
    save_file(JointSchemaHead(config).state_dict(), head / "joint_head.safetensors")
    return backbone, head


def test_any_causal_backbone_with_a_head_answers(other: tuple[Path, Path], tmp_path: Path) -> None:
    backbone, head = other
    clef = open_clef(backbone, head=head, device="cpu")
    assert clef.info.sees_pictures is False
    assert clef.info.max_tokens == 4096
    with pytest.raises(CheckpointError, match="reads at most 4,096 tokens"):
        open_clef(backbone, head=head, device="cpu", max_tokens=4097)
    texts = [request(case) for case in CASES if not case["images"]][:5]
    together = clef.score(texts)
    for asked, reading in zip(texts, together, strict=True):
        (alone,) = clef.score([asked])
        for key, row in reading.logits.items():
            assert row == pytest.approx(alone.logits[key], abs=1e-5)
    assert len({str(reading.logits) for reading in together}) == len(texts)
    clef.save(tmp_path / "both")
    again = open_clef(tmp_path / "both", device="cpu")
    clef.states.forget()  # what is kept of states changes the last digits
    assert again.score(texts[:1])[0].logits == clef.score(texts[:1])[0].logits


def test_a_backbone_without_sight_refuses_pictures_by_field(other: tuple[Path, Path]) -> None:
    clef = open_clef(other[0], head=other[1], device="cpu")
    asked = request(CASES[-1])
    for refuse in (lambda: clef.score([asked]), lambda: clef.count(asked.state, asked.questions)):
        with pytest.raises(StateError, match="reads text alone") as told:
            refuse()
        assert told.value.errors[0].loc == ("images",)
    blind = Request(State(asked.state.value), asked.questions)
    assert clef.score([blind])[0].tokens.pictures == 0


def test_a_model_that_does_not_fit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    import transformers

    def full(*args: Any, **options: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(transformers.Qwen3_5ForConditionalGeneration, "from_pretrained", full)
    assert "does not fit into the memory of cpu as float32; choose a smaller checkpoint" in told(RELEASE)


def test_threads_and_limits_are_the_callers() -> None:
    before = torch.get_num_threads()
    try:
        clef = open_clef(RELEASE, device="cpu", threads=2, limits=Limits(questions=3), max_tokens=500)
        assert torch.get_num_threads() == 2
        assert (clef.limits.questions, clef.info.max_tokens) == (3, 500)
    finally:
        torch.set_num_threads(before)


def test_devices_and_dtypes() -> None:
    cpu = torch.device("cpu")
    assert choose_device("cpu") == cpu
    assert choose_device("auto").type in ("cpu", "cuda", "mps")
    assert choose_dtype("auto", cpu) == torch.float32
    assert choose_dtype("auto", torch.device("cuda")) == torch.bfloat16
    assert choose_dtype("float16", cpu) == torch.float16
    for name in ("abacus", "cuda:99", "xpu"):
        with pytest.raises(CheckpointError, match=name):
            choose_device(name)
    with pytest.raises(CheckpointError, match="int8"):
        choose_dtype("int8", cpu)
    with pytest.raises(CheckpointError, match="loud"):
        open_clef(RELEASE, question_ids="loud")
