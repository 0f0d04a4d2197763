"""A checkpoint on disk: which files it has, whether they are whole, who it is, and how it is written.

Contract
--------
A checkpoint is a folder in the layout of the released Clef: the backbone as transformers writes it (`config.json`,
safetensors, in shards or not), `tokenizer.json`, `joint_head_config.json` and `joint_head.safetensors` (which is in no
shard index), and `processor_config.json` if the backbone sees pictures. The head's two files may also lie in a folder
of their own, beside any causal backbone. A `studio.json` may state what the release's files cannot:

    {"question_ids": "literal" | "neutral", "name": "...", "notice": "..."}

`find` opens a folder or a hub name, fetching what is missing (a fetch that broke off goes on where it stopped), and
checks every file before a weight is loaded. All that can be wrong is a `CheckpointError`: one sentence that names the
file and says what to do.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from model.head import HeadConfig
from model.images import PictureSettings, picture_settings
from model.scorer import QuestionIds

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

Progress: TypeAlias = Callable[[str, float | None], None]
"""Told what is being done, and how far it is (0 to 1, or None where that is not known)."""

HEAD_CONFIG = "joint_head_config.json"
HEAD_WEIGHTS = "joint_head.safetensors"
STUDIO = "studio.json"
_PROCESSORS = ("processor_config.json", "preprocessor_config.json")
_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")
_SHARD_SIZE = "5GB"

_WHOLE_UP_TO = 64 << 20
_SAMPLES = 64
_SAMPLE_BYTES = 64 << 10


class CheckpointError(ValueError):
    """A checkpoint that cannot be opened; the text names the file and says what to do."""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint whose files are all there and whole. `revision` is a hub commit, if it came from there."""

    folder: Path
    head_folder: Path
    name: str
    revision: str
    config: Mapping[str, Any] = field(repr=False)
    head_config: HeadConfig
    question_ids: QuestionIds
    notice: str
    pictures: PictureSettings | None = field(repr=False)
    """How pictures are cut into patches; None if the backbone sees none."""

    @property
    def tokenizer_file(self) -> Path:
        """The pipeline that reads text."""
        return self.folder / "tokenizer.json"

    @property
    def hidden_size(self) -> int:
        """H of the backbone's final hidden states."""
        return int(self.config.get("text_config", self.config)["hidden_size"])

    @property
    def positions(self) -> int | None:
        """How many tokens the backbone can tell apart by place; None if it states no bound."""
        stated = self.config.get("text_config", self.config).get("max_position_embeddings")
        return None if stated is None else int(stated)

    def fingerprint(self) -> str:
        """sha256 (hex) over every file that decides a number. Quick for any size: see `file_hash`."""
        files = [self.folder / "config.json", self.tokenizer_file, *_weight_files(self.folder)]
        files += [self.folder / name for name in _PROCESSORS if (self.folder / name).is_file()]
        files += [self.head_folder / HEAD_CONFIG, self.head_folder / HEAD_WEIGHTS]
        digest = hashlib.sha256()
        for path in files:
            digest.update(f"{path.name} {file_hash(path)}\n".encode())
        return digest.hexdigest()


def file_hash(path: Path) -> str:
    """sha256 (hex) of a file's bytes up to 64 MiB.

    Of a larger file: of its size, its first and last 64 KiB and 64 blocks spread evenly between. The header of a
    safetensors file (names, shapes, places) begins the file, and training changes weights everywhere, so another
    checkpoint gets another hash; a change of a few bytes within a shard may not be seen.
    """
    size = path.stat().st_size
    if size <= _WHOLE_UP_TO:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for i in range(_SAMPLES + 2):
            file.seek((size - _SAMPLE_BYTES) * i // (_SAMPLES + 1))
            digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()


def find(source: str | Path, *, head: str | Path | None = None, progress: Progress | None = None) -> Checkpoint:
    """Open a checkpoint's files, without loading weights.

    Parameters
    ----------
    source : a folder, or a hub name such as "Cloudflare/clef-flash" (with "@revision" if wanted).
    head : where the head's two files lie, if not beside the backbone; folder or hub name.

    Raises
    ------
    CheckpointError
    """
    folder, revision = _fetch(source, progress)
    head_folder = folder if head is None else _fetch(head, progress)[0]
    _require(folder, ("config.json", "tokenizer.json"), source)
    _require(head_folder, (HEAD_CONFIG, HEAD_WEIGHTS), head or source)
    for path in (*_weight_files(folder), head_folder / HEAD_WEIGHTS):
        tensor_shapes(path)
    config = _read_json(folder / "config.json")
    studio = _read_json(folder / STUDIO) if (folder / STUDIO).is_file() else {}
    question_ids = studio.get("question_ids", "literal")
    if question_ids not in get_args(QuestionIds):
        raise CheckpointError(f"{folder / STUDIO}: question_ids is {question_ids!r}; write literal or neutral")
    found = Checkpoint(
        folder=folder,
        head_folder=head_folder,
        name=str(studio.get("name") or _plain_name(source)),
        revision=revision,
        config=config,
        head_config=_head_config(head_folder / HEAD_CONFIG),
        question_ids=question_ids,
        notice=str(studio.get("notice", "")),
        pictures=_picture_settings(folder, source, config) if "vision_config" in config else None,
    )
    if found.head_config.hidden_size != found.hidden_size:
        raise CheckpointError(
            f"{found.head_folder / HEAD_CONFIG}: hidden_size is {found.head_config.hidden_size}, but the backbone's is "
            f"{found.hidden_size}; this head was made for another backbone"
        )
    return found


def tensor_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Names and shapes that a safetensors file states, without reading its weights.

    Raises
    ------
    CheckpointError : the file is not safetensors, or ends before its last tensor (a download that broke off).
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        try:
            header = json.loads(file.read(length) if length <= 100 << 20 else b"")
            tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
            shapes = {name: tuple(entry["shape"]) for name, entry in tensors.items()}
            end = max((entry["data_offsets"][1] for entry in tensors.values()), default=0)
        except (ValueError, AttributeError, KeyError, TypeError):
            raise CheckpointError(f"{path} is not a safetensors file; fetch it again") from None
    size = path.stat().st_size
    if size != 8 + length + end:
        raise CheckpointError(f"{path} has {size:,} bytes of {8 + length + end:,}; fetch it again")
    return shapes


def save(
    folder: Path, *, source: Checkpoint, backbone: PreTrainedModel, head: nn.Module, question_ids: QuestionIds
) -> None:
    """Write the released layout: shards of at most 5 GB, the head beside them, all other files as they were.

    Weights are written in the dtype that they have. The folder appears whole or not at all.

    Raises
    ------
    CheckpointError : the folder exists and is not empty.
    """
    from safetensors.torch import save_file

    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CheckpointError(f"{folder} exists and is not empty; choose another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        backbone.save_pretrained(part, max_shard_size=_SHARD_SIZE)
        for path in sorted(source.folder.iterdir()):
            if _is_copied(path):
                shutil.copyfile(path, part / path.name)
        tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in head.state_dict().items()}
        save_file(tensors, part / HEAD_WEIGHTS, metadata={"format": "pt"})
        (part / HEAD_CONFIG).write_text(json.dumps(source.head_config.json()), encoding="utf-8")
        studio = {"question_ids": question_ids, "notice": source.notice}
        (part / STUDIO).write_text(json.dumps(studio, ensure_ascii=False), encoding="utf-8")
        os.chmod(part, 0o755)  # mkdtemp made it private
        os.replace(part, folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _is_copied(path: Path) -> bool:
    """Tokenizer, processor, templates and licence go along; weights and what describes them are written anew."""
    described = {"config.json", HEAD_CONFIG, STUDIO, "README.md"}
    weights = path.suffix in (".safetensors", ".bin", ".pt", ".gguf") or path.name.endswith(".index.json")
    return path.is_file() and not weights and path.name not in described and not path.name.startswith(".")


def _fetch(source: str | Path, progress: Progress | None) -> tuple[Path, str]:
    """Folder of a source, and its revision if it is from the hub."""
    path = Path(source).expanduser()
    if path.is_dir():
        return path, ""
    name = str(source)
    if not _HUB_NAME.fullmatch(name) or path.exists() or name.startswith("."):
        raise CheckpointError(
            f"{name} is neither a folder nor a hub name such as Cloudflare/clef-flash; check the path"
        )
    return _download(name, progress)


def _download(name: str, progress: Progress | None) -> tuple[Path, str]:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, RepositoryNotFoundError

    repository, _, revision = name.partition("@")
    if progress is not None:
        progress(f"looking for {repository}", None)
    try:
        folder = snapshot_download(
            repository,
            revision=revision or None,
            allow_patterns=["*.json", "*.safetensors", "*.jinja", "LICENSE*"],
            tqdm_class=None if progress is None else _bar(repository, progress),
        )
    except LocalEntryNotFoundError:
        raise CheckpointError(
            f"{name} is not on this machine, and the hub cannot be reached; go online (or unset HF_HUB_OFFLINE), "
            "or give the folder of a copy"
        ) from None
    except RepositoryNotFoundError:
        raise CheckpointError(
            f"the hub knows no {repository} (or it is private: set HF_TOKEN); check the name"
        ) from None
    except (HfHubHTTPError, OSError) as failure:
        reason = str(failure).splitlines()[0] if str(failure) else type(failure).__name__
        raise CheckpointError(f"fetching {name} broke off ({reason}); try again, it goes on where it stopped") from None
    return Path(folder), Path(folder).name


def _bar(repository: str, progress: Progress) -> type:
    """A progress bar that draws nothing and tells `progress` the share of bytes."""
    from tqdm import tqdm

    class Told(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            # Of the hub's bars, one counts files, one bytes as they arrive, one bytes as they are written: the last.
            self.told = options.get("unit") == "B" and not str(options.get("desc")).startswith("Downloading")
            super().__init__(*args, **{**options, "file": io.StringIO()})

        def update(self, n: float | None = 1) -> bool | None:
            moved = super().update(n)
            if self.told and self.total:
                text = f"fetching {repository}: {self.n / 1e9:.1f} of {self.total / 1e9:.1f} GB"
                progress(text, min(1.0, self.n / self.total))
            return moved

    return Told


def _weight_files(folder: Path) -> list[Path]:
    """The backbone's safetensors, in order.

    Raises
    ------
    CheckpointError : there are none, or shards that the index names are missing.
    """
    index = folder / _INDEX
    if not index.is_file():
        _require(folder, (_WEIGHTS,), folder)
        return [folder / _WEIGHTS]
    weight_map = _read_json(index).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise CheckpointError(f"{index} names no shards; fetch it again")
    shards = sorted({str(name) for name in weight_map.values()})
    _require(folder, shards, folder)
    return [folder / name for name in shards]


def _require(folder: Path, names: Iterable[str], source: str | Path) -> None:
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        raise CheckpointError(f"{source} lacks {', '.join(missing)}; fetch the whole checkpoint")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise CheckpointError(f"{path} is not JSON; fetch it again") from None
    if not isinstance(value, dict):
        raise CheckpointError(f"{path} is not a JSON object; fetch it again")
    return value


def _head_config(path: Path) -> HeadConfig:
    raw = _read_json(path)
    names = [f.name for f in fields(HeadConfig)]
    raw.pop("dropout", None)  # a setting of training that a release may carry
    if missing := [name for name in names if name not in raw]:
        raise CheckpointError(f"{path} lacks {', '.join(missing)}")
    if foreign := sorted(raw.keys() - set(names)):
        raise CheckpointError(f"{path} has {', '.join(foreign)}, which this head does not know")
    try:
        return HeadConfig(**{name: int(raw[name]) for name in names})
    except (ValueError, TypeError) as failure:
        raise CheckpointError(f"{path}: {failure}") from None


def _picture_settings(folder: Path, source: str | Path, config: Mapping[str, Any]) -> PictureSettings:
    for name in _PROCESSORS:
        if not (folder / name).is_file():
            continue
        try:
            found = picture_settings(_read_json(folder / name))
        except ValueError as failure:
            raise CheckpointError(f"{folder / name}: {failure}") from None
        vision = config["vision_config"]
        for key, ours in (("patch_size", found.patch), ("spatial_merge_size", found.merge)):
            if vision.get(key, ours) != ours:
                raise CheckpointError(f"{folder / name}: cuts by {ours}, but config.json has {key} {vision[key]}")
        return found
    raise CheckpointError(f"{source} lacks {_PROCESSORS[0]}; fetch the whole checkpoint")


def _plain_name(source: str | Path) -> str:
    path = Path(source).expanduser()
    return path.resolve().name if path.is_dir() else str(source)
