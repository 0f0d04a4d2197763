"""The head alone: parameter counts of the releases, batching, padding, parts of a text put end to end."""

from __future__ import annotations

import pytest
import torch

from model.encoding import FieldSpans
from model.head import HeadConfig, JointSchemaHead, tensor_problems
from model.layout import Layout

SMALL = HeadConfig(hidden_size=12, width=8, routing_layers=2, layers=2, heads=2, feedforward=16)
CPU = torch.device("cpu")


def field(key: str, question: tuple[int, int], *options: tuple[int, int]) -> FieldSpans:
    return FieldSpans(key, "choice", question, options, tuple(map(str, range(len(options)))))


RECORDS = [
    [field("a", (2, 4), (4, 6), (6, 7)), field("b", (8, 9), (9, 11), (11, 12), (12, 15))],
    [field("c", (1, 3), (3, 4))],
    [field("d", (0, 5), (5, 6), (6, 9)), field("e", (9, 10), (10, 11)), field("f", (11, 12), (12, 13), (13, 14))],
]
LENGTHS = [20, 7, 17]


@pytest.fixture(scope="module")
def head() -> JointSchemaHead:
    torch.manual_seed(0)
    return JointSchemaHead(SMALL).eval()


def run(head: JointSchemaHead, texts: list[torch.Tensor], words: list[torch.Tensor], which: list[int]) -> list:
    """Logits of some records in one batch, padded with noise."""
    tokens = max(LENGTHS[i] for i in which)
    hidden = torch.full((len(which), tokens, SMALL.hidden_size), 9.0)
    lexical = torch.full((len(which), tokens, SMALL.hidden_size), -9.0)
    mask = torch.zeros(len(which), tokens, dtype=torch.bool)
    for row, i in enumerate(which):
        hidden[row, : LENGTHS[i]], lexical[row, : LENGTHS[i]], mask[row, : LENGTHS[i]] = texts[i], words[i], True
    layout = Layout.of([RECORDS[i] for i in which], [LENGTHS[i] for i in which], tokens, CPU)
    rows = lexical.flatten(0, 1)[layout.rows]
    return layout.split(head(hidden, layout, rows, None if mask.all() else mask))


@pytest.fixture(scope="module")
def texts() -> list[torch.Tensor]:
    return [torch.randn(n, SMALL.hidden_size) for n in LENGTHS]


@pytest.fixture(scope="module")
def words() -> list[torch.Tensor]:
    return [torch.randn(n, SMALL.hidden_size) for n in LENGTHS]


@pytest.mark.parametrize(("hidden", "parameters"), [(5120, 128_056_324), (4096, 121_762_820)])
def test_the_releases_have_as_many_parameters_in_122_tensors(hidden: int, parameters: int) -> None:
    with torch.device("meta"):
        head = JointSchemaHead(HeadConfig(hidden, width=1024, routing_layers=2, layers=4, heads=16, feedforward=4096))
    assert sum(p.numel() for p in head.parameters()) == parameters
    assert len(head.state_dict()) == 122


def test_a_padded_batch_gives_what_each_record_gives_alone(
    head: JointSchemaHead, texts: list[torch.Tensor], words: list[torch.Tensor]
) -> None:
    with torch.inference_mode():
        together = run(head, texts, words, [0, 1, 2])
        for i, rows in enumerate(together):
            (alone,) = run(head, texts, words, [i])
            assert [len(row) for row in rows] == [len(f.options) for f in RECORDS[i]]
            for ours, theirs in zip(rows, alone, strict=True):
                assert ours == pytest.approx(theirs, abs=1e-5)


def test_every_token_of_the_text_reaches_the_answer(
    head: JointSchemaHead, texts: list[torch.Tensor], words: list[torch.Tensor]
) -> None:
    hidden = texts[1][None].clone().requires_grad_()
    layout = Layout.of([RECORDS[1]], [LENGTHS[1]], LENGTHS[1], CPU)
    head(hidden, layout, words[1][layout.rows]).sum().backward()
    assert hidden.grad is not None
    assert (hidden.grad[0].abs().sum(-1) > 0).all()


def test_a_text_remembered_in_two_parts_gives_the_same(
    head: JointSchemaHead, texts: list[torch.Tensor], words: list[torch.Tensor]
) -> None:
    at = 2  # all spans of the first record stand behind it
    with torch.inference_mode():
        (whole,) = run(head, texts, words, [0])
        state, schema = head.remember(texts[0][None, :at]), head.remember(texts[0][None, at:])
        layout = Layout.of([[f.shifted(-at) for f in RECORDS[0]]], [LENGTHS[0] - at], LENGTHS[0] - at, CPU)
        logits, _ = head.decide(state.then(schema), layout, words[0][at:][layout.rows])
    (parts,) = layout.split(logits)
    for ours, theirs in zip(parts, whole, strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)


def test_routing_is_a_distribution_over_real_tokens(head: JointSchemaHead, texts: list[torch.Tensor]) -> None:
    hidden = torch.zeros(2, 20, SMALL.hidden_size)
    hidden[0], hidden[1, :7] = texts[0], texts[1]
    mask = torch.arange(20) < torch.tensor([[20], [7]])
    layout = Layout.of(RECORDS[:2], LENGTHS[:2], 20, CPU)
    lexical = torch.randn(len(layout.rows), SMALL.hidden_size)
    logits, looks = head.decide(head.remember(hidden), layout, lexical, mask, with_routing=True)
    assert looks is not None
    assert looks.shape == (2, 5, 20)
    assert torch.allclose(looks.sum(-1), torch.ones(2, 5))
    assert looks[1, :, 7:].abs().max() == 0
    assert torch.equal(logits, head.decide(head.remember(hidden), layout, lexical, mask)[0])


def test_the_head_keeps_its_own_dtype(head: JointSchemaHead, texts: list[torch.Tensor]) -> None:
    layout = Layout.of([RECORDS[0]], [20], 20, CPU)
    lexical = torch.randn(len(layout.rows), SMALL.hidden_size)
    logits = head(texts[0][None].bfloat16(), layout, lexical.bfloat16())
    assert logits.dtype == torch.float32


def test_span_means() -> None:
    layout = Layout.of(RECORDS, LENGTHS, 20, CPU)
    rows = torch.arange(60.0)[layout.rows][:, None]
    questions, options = layout.means(rows)
    assert questions[:, :, 0].tolist() == [[2.5, 8.0, 0.0], [21.5, 0.0, 0.0], [42.0, 49.0, 51.0]]
    assert options[0, :, 0].tolist() == [4.5, 6.0, 9.5, 11.0, 13.0]
    assert options[1, :, 0].tolist() == [23.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("span", [(3, 3), (5, 4), (18, 21), (-1, 2)])
def test_a_span_without_tokens_is_refused_by_name(span: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="q7: no tokens"):
        Layout.of([[field("q7", span, (1, 2))]], [20], 20, CPU)


def test_problems_name_the_tensors() -> None:
    expected = {"a": (2, 3), "b": (1,), "c": ()}
    assert tensor_problems(expected, dict(expected)) == []
    told = "; ".join(tensor_problems(expected, {"a": (3, 2), "c": (), "d": (4,)}))
    assert told == "missing: b; not known: d; wrong shape: a is [3, 2] and should be [2, 3]"
    many = tensor_problems({f"t{i:02}": () for i in range(20)}, {})
    assert many == ["missing: t00, t01, t02, t03, t04, t05, t06, t07 and 12 more"]


def test_heads_must_divide_the_width() -> None:
    with pytest.raises(ValueError, match="not a multiple of heads 3"):
        HeadConfig(hidden_size=12, width=8, routing_layers=1, layers=1, heads=3, feedforward=16)
