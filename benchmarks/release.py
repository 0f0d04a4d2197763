"""A random Clef of a middle size, as a release: large enough that time is spent where a real one spends it.

Contract
--------
`write_release` makes a folder that `model.clef.open_clef` opens: a backbone of the released family (three linear
layers, then one of full attention), a head, both with random weights, and the tokenizer of the tests' tiny release (its
vocabulary is small, so texts take about two to three times the tokens of the real one). No network.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

TINY = Path(__file__).resolve().parents[1] / "tests" / "golden" / "tiny_release"

MIDDLE: dict[str, int] = {
    "hidden_size": 512,
    "intermediate_size": 1792,
    "num_hidden_layers": 12,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "linear_num_key_heads": 8,
    "linear_num_value_heads": 16,
    "linear_key_head_dim": 64,
    "linear_value_head_dim": 64,
}
"""About 60 million parameters with its head."""
SMALL: dict[str, int] = MIDDLE | {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 4}
"""For a quick look whether everything runs."""


def write_release(folder: Path, size: dict[str, int] = MIDDLE, *, seed: int = 0) -> Path:
    """Write a release with random weights; the same seed gives the same weights."""
    import torch
    from safetensors.torch import save_file
    from transformers import Qwen3_5Config, Qwen3_5ForConditionalGeneration

    from model.head import HeadConfig, JointSchemaHead

    folder.mkdir(parents=True, exist_ok=True)
    config: dict[str, Any] = json.loads((TINY / "config.json").read_text(encoding="utf-8"))
    config["text_config"] |= size | {"max_position_embeddings": 65_536}
    layers = size["num_hidden_layers"]
    config["text_config"]["layer_types"] = [
        "full_attention" if i % 4 == 3 else "linear_attention" for i in range(layers)
    ]
    # Of the part of a head that is turned by position, a third for time, for rows and for columns.
    config["text_config"]["rope_parameters"]["mrope_section"] = [3, 3, 2]
    config["vision_config"]["out_hidden_size"] = size["hidden_size"]
    torch.manual_seed(seed)
    model = Qwen3_5ForConditionalGeneration(Qwen3_5Config(**config))
    with torch.no_grad():
        # The family's usual start (0.02) leaves so small a model almost blind to what it reads.
        for weight in model.parameters():
            if weight.dim() == 2:
                weight.normal_(0, 1.4 / weight.shape[1] ** 0.5)
    model.save_pretrained(folder)
    width = size["hidden_size"] // 2
    head_config = HeadConfig(
        hidden_size=size["hidden_size"], width=width, routing_layers=2, layers=4, heads=8, feedforward=4 * width
    )
    head = JointSchemaHead(head_config)
    save_file(head.state_dict(), folder / "joint_head.safetensors", metadata={"format": "pt"})
    (folder / "joint_head_config.json").write_text(json.dumps(head_config.json()), encoding="utf-8")
    for name in ("tokenizer.json", "tokenizer_config.json", "processor_config.json"):
        shutil.copyfile(TINY / name, folder / name)
    return folder
