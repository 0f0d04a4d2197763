"""Settings from the command line and the environment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from studio.settings import Settings, parse

ROOT = Path(__file__).parents[2]


def test_defaults_serve_the_embedded_model_on_loopback() -> None:
    settings = parse([], {})
    assert (settings.model, settings.host, settings.open_browser) == ("embedded", "127.0.0.1", False)
    assert settings == Settings(data=settings.data)
    assert settings.record is False


def test_the_command_line_beats_the_environment() -> None:
    environ = {"CLEF_STUDIO_MODEL": "Cloudflare/clef", "CLEF_STUDIO_MAX_TOKENS": "2048", "CLEF_STUDIO_OPEN": "yes"}
    assert parse([], environ).model == "Cloudflare/clef"
    assert parse([], environ).max_tokens == 2048
    assert parse([], environ).open_browser is True
    assert parse(["--model", "embedded", "--no-open"], environ).model == "embedded"
    assert parse(["--no-open"], environ).open_browser is False


@pytest.mark.parametrize(
    ("argv", "environ", "names"),
    [
        (["--port", "99999"], {}, "--port"),
        (["--max-tokens", "0"], {}, "--max-tokens"),
        (["--state-memory", "-1"], {}, "--state-memory"),
        (["--dtype", "int3"], {}, "--dtype"),
        ([], {"CLEF_STUDIO_DTYPE": "int3"}, "CLEF_STUDIO_DTYPE"),
        ([], {"CLEF_STUDIO_PORT": "x"}, "--port"),
        ([], {"CLEF_STUDIO_QUESTION_IDS": "none"}, "CLEF_STUDIO_QUESTION_IDS"),
        (["--api-key", "short"], {}, "--api-key"),
        ([], {"CLEF_STUDIO_API_KEY": ""}, "--api-key"),
        ([], {"CLEF_STUDIO_API_KEY": "two words long"}, "--api-key"),
        ([], {"CLEF_STUDIO_API_KEY": "schlüsselchen"}, "--api-key"),
        ([], {"CLEF_STUDIO_USERS": ""}, "--users"),
        ([], {"CLEF_STUDIO_DATABASE": "studio"}, "--database: is not a database's URL"),
        (["--api-only", "--users", "f"], {}, "--users guards the pages"),
    ],
)
def test_a_wrong_value_is_named(
    argv: list[str], environ: dict[str, str], names: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        parse(argv, environ)
    assert ended.value.code == 2
    assert names in capsys.readouterr().err


LOCAL = ["127.0.0.1", "localhost", "::1", "127.8.0.1"]
OTHERS = ["0.0.0.0", "", "::", "192.168.1.20", "studio.lan", "fe80::1"]


@pytest.mark.parametrize("host", LOCAL)
@pytest.mark.parametrize("more", [[], ["--api-only"], ["--api-key", "0123456789"], ["--users", "f"]])
def test_on_this_machine_nobody_need_sign_in(host: str, more: list[str]) -> None:
    assert parse(["--host", host, *more], {}).host == host


@pytest.mark.parametrize("host", OTHERS)
@pytest.mark.parametrize(
    ("more", "says"),
    [
        ([], "python app.py user add NAME --users FILE"),
        (["--api-key", "0123456789"], "python app.py user add NAME --users FILE"),
        (["--api-only"], "--api-only needs an --api-key"),
        (["--users", "f"], None),
        (["--users", "f", "--api-key", "0123456789"], None),
        (["--api-only", "--api-key", "0123456789"], None),
    ],
)
def test_other_machines_must_sign_in_or_show_a_key(
    host: str, more: list[str], says: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["--host", host, *more]
    if says is None:
        assert parse(argv, {}).host == host
        return
    with pytest.raises(SystemExit) as ended:
        parse(argv, {})
    assert ended.value.code == 2
    assert says in " ".join(capsys.readouterr().err.split())


def test_a_key_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert "0123456789" not in repr(parse(["--api-key", "0123456789"], {}))
    url = "postgresql://ann:0123456789@host/studio"
    for settings in (parse(["--database", url], {}), parse([], {"CLEF_STUDIO_DATABASE": url})):
        assert settings.database == url
        assert "0123456789" not in repr(settings)
    with pytest.raises(SystemExit):
        parse(["--api-key", "has a space"], {})
    assert "has a space" not in capsys.readouterr().err


def test_limits_are_settings() -> None:
    limits = parse(["--max-questions", "3", "--max-options", "5"], {}).limits
    assert (limits.questions, limits.options, limits.levels, limits.images) == (3, 5, 10, 4)


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:7860/"),
        ("0.0.0.0", "http://127.0.0.1:7860/"),
        ("::1", "http://[::1]:7860/"),
    ],
)
def test_the_url_is_one_that_a_browser_takes(host: str, url: str) -> None:
    assert Settings(host=host).url == url


def test_help_imports_neither_torch_nor_gradio() -> None:
    code = "import sys, app\ntry:\n    app.main(['--help'])\nexcept SystemExit: pass\n"
    code += "assert not {'torch', 'gradio', 'transformers'} & set(sys.modules), 'heavy import'"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--max-tokens" in done.stdout
