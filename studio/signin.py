"""The sign-in: its page, its routes, and what every page shows of who signed in.

Contract
--------
`router` serves `/sign-in` (GET, POST), `/sign-out` (POST) and `/studio/me`. The page works without scripts, is never
stored, and may not be framed. A wrong name and a wrong password read and last the same; attempts are slowed
(`studio.attempts`), and only a few passwords are checked at once, for each takes 64 MiB. After it the browser goes on
to where it wanted, inside this studio only. `head` is the script that puts the name and "Sign out" on every page.
"""

from __future__ import annotations

import html
import logging
import math
import secrets
from functools import cache
from string import Template
from typing import Final
from urllib.parse import parse_qs

import anyio
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from studio import look
from studio.api.errors import ApiError
from studio.attempts import Attempts
from studio.gate import SIGN_IN, SIGN_OUT
from studio.person import signed_in
from studio.sessions import LIFETIME, Sessions
from studio.users import LONGEST, NAME_LENGTH, Users

log = logging.getLogger(__name__)

MAX_FORM: Final = 16 * 1024
CHECKED_AT_ONCE: Final = 2
MAX_WAITING: Final = 16
"""Sign-ins that wait for their check; one more is told to come again."""
WRONG: Final = "The name or the password is not right."
_FOLDER = look.ASSETS / "signin"


def router(users: Users, sessions: Sessions, *, root_path: str = "") -> APIRouter:
    """The routes. `root_path`: the prefix under which a proxy serves the studio."""
    routes = APIRouter(include_in_schema=False)
    attempts = Attempts()
    checks = anyio.CapacityLimiter(CHECKED_AT_ONCE)
    home = f"{root_path}/"

    def page(wanted: str, *, status: int = 200, name: str = "", said: str = "", wait: float = 0) -> Response:
        nonce = secrets.token_urlsafe(16)
        alert = f'<p class="cs-alert" role="alert" id="said">{html.escape(said)}</p>' if said else ""
        text = _template().substitute(
            head=f'<script nonce="{nonce}">{look.THEME_SCRIPT}</script>{look.head()}',
            style=(look.ASSETS / "css" / "signin.css").read_text(encoding="utf-8"),
            action=html.escape(f"{root_path}{SIGN_IN}"),
            alert=alert,
            invalid='aria-invalid="true" aria-describedby="said"' if said else "",
            name=html.escape(name),
            focus_name="" if name else "autofocus",
            focus_password="autofocus" if name else "",
            next=html.escape(wanted),
            name_length=NAME_LENGTH,
            longest=LONGEST,
        )
        policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; img-src data:; "
        policy += "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        headers = {"Cache-Control": "no-store", "Content-Security-Policy": policy, "X-Frame-Options": "DENY"}
        if wait:
            headers["Retry-After"] = str(math.ceil(wait))
        return HTMLResponse(text, status_code=status, headers=headers)

    @routes.get(SIGN_IN)
    async def ask(request: Request) -> Response:
        wanted = _inside(request.query_params.get("next", ""), home)
        if _session(request, sessions) is not None:
            return RedirectResponse(wanted, 303)
        return page(wanted)

    @routes.post(SIGN_IN)
    async def sign_in(request: Request) -> Response:
        form = await _form(request)
        name, wanted = form.get("name", "").strip(), _inside(form.get("next", ""), home)
        address = request.client.host if request.client else ""
        wait = attempts.wait(name, address)
        if checks.statistics().tasks_waiting >= MAX_WAITING:
            wait = max(wait, 1.0)
        if wait > 0:
            seconds = math.ceil(wait)
            said = f"Too many attempts. Try again in {seconds} second{'' if seconds == 1 else 's'}."
            return page(wanted, status=429, name=name, said=said, wait=wait)
        attempts.begun(name, address)
        person = await anyio.to_thread.run_sync(users.verify, name, form.get("password", ""), limiter=checks)
        cookie = None if person is None else sessions.begin(person)
        if cookie is None:
            # Without the name: people type their password there by mistake.
            log.warning("a sign-in from %s failed", address)
            return page(wanted, status=401, name=name, said=WRONG)
        attempts.succeeded(name, address)
        reply = RedirectResponse(wanted, 303, headers={"Cache-Control": "no-store"})
        reply.set_cookie(
            sessions.cookie, cookie, max_age=LIFETIME, path=home, httponly=True, samesite="lax",
            secure=request.url.scheme == "https",
        )  # fmt: skip
        return reply

    @routes.post(SIGN_OUT)
    async def sign_out(request: Request) -> Response:
        sessions.end(request.cookies.get(sessions.cookie, ""))
        # What the browser kept of pages goes too: the back button must not show them.
        headers = {"Cache-Control": "no-store", "Clear-Site-Data": '"cache"'}
        reply = RedirectResponse(f"{root_path}{SIGN_IN}", 303, headers=headers)
        reply.delete_cookie(sessions.cookie, path=home, httponly=True, samesite="lax")
        return reply

    @routes.get("/studio/me")
    async def me() -> Response:
        return JSONResponse({"name": signed_in()}, headers={"Cache-Control": "no-store"})

    return routes


def head() -> str:
    """What stands in the head of every page, where people sign in."""
    return f"<script>{(_FOLDER / 'person.js').read_text(encoding='utf-8')}</script>"


@cache
def _template() -> Template:
    return Template((_FOLDER / "page.html").read_text(encoding="utf-8"))


def _session(request: Request, sessions: Sessions) -> str | None:
    return sessions.who(request.cookies.get(sessions.cookie, ""))


def _inside(wanted: str, home: str) -> str:
    """Where to go on: a path of this studio, else its first page. Browsers read `//x` and `/\\x` as another site."""
    plain = wanted.isprintable() and wanted.isascii() and "\\" not in wanted and not wanted.startswith("//")
    return wanted if plain and wanted.startswith(home) else home


async def _form(request: Request) -> dict[str, str]:
    """The fields of a posted form. Raises ApiError (413, 415)."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise ApiError(415, "unsupported_media_type", "Send the form of the sign-in page.")
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > MAX_FORM:
            raise ApiError(413, "body_too_large", "The form is too long.")
    fields = parse_qs(data.decode("utf-8", "replace"), keep_blank_values=True)
    return {key: values[-1] for key, values in fields.items()}
