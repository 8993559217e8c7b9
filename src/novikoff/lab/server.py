"""The lab's server: the page at once, answers by the library, for this machine alone.

It listens on 127.0.0.1, refuses other hosts and origins, takes JSON of at most 64 kB and sends a
policy under which the page can load nothing from elsewhere. Kernels are compiled beside it, so
that the first page need not wait for them.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
import threading
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from novikoff import __version__

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 1 << 16
STATIC = resources.files("novikoff.lab") / "static"
HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' blob: data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
QUESTIONS = ("run", "pocket", "voted", "export")
# What has to be loaded or compiled at first, as the page names it, and a question that needs it.
STAGES = {"verdict and the run": "run", "pocket": "pocket"}


def _answer(what: str, body: Any) -> object:
    from novikoff.lab.answers import ANSWERS  # here: the page need not wait for the library

    return ANSWERS[what](body)


def _warm_up(done: list[str]) -> None:
    """Load and compile what answers need, and tell how far it is."""
    question = {"points": [[0, 0, -1], [0, 1, 1], [1, 1, -1]]}
    for stage, what in STAGES.items():
        _answer(what, question)
        done.append(stage)


def build(port: int, data: dict[str, Any] | None = None, token: str | None = None) -> ASGIApp:
    """The application for a server on this port; ``data`` is shown to whoever has the token."""
    done: list[str] = []

    warming = threading.Thread(target=_warm_up, args=(done,), daemon=True)

    async def ready(request: Request) -> Response:
        if warming.ident is None:  # asked when the first picture is drawn
            warming.start()
        stages = [{"name": name, "done": name in done} for name in STAGES]
        return JSONResponse({"version": __version__, "stages": stages})

    async def page(request: Request) -> Response:
        return Response((STATIC / "index.html").read_bytes(), media_type="text/html")

    async def own_data(request: Request) -> Response:
        given = request.query_params.get("token", "")
        if data is None or token is None or not secrets.compare_digest(given, token):
            raise HTTPException(403, "This needs the address that novikoff lab printed.")
        return JSONResponse(data)

    async def answer(request: Request) -> Response:
        body, what = await _json(request), request.url.path.removeprefix("/api/")
        try:
            return JSONResponse(await run_in_threadpool(_answer, what, body))
        except ValueError as error:  # a sentence for the user
            raise HTTPException(422, str(error)) from None

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/api/ready", ready),
            Route("/api/data", own_data),
            *(Route(f"/api/{name}", answer, methods=["POST"]) for name in QUESTIONS),
            Mount("/static", StaticFiles(directory=str(STATIC))),
        ],
        exception_handlers={HTTPException: _sentence},
    )
    return guarded(app, port)


def guarded(app: ASGIApp, port: int) -> ASGIApp:
    """Let in requests of this machine's own page, of a sensible size; refuse others."""
    hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *more]
            await send(message)

        given = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        refused = _refusal(hosts, scope["method"], given)
        answering = app if refused is None else PlainTextResponse(refused[1], refused[0])
        await answering(scope, receive, send_with_headers)

    return guard


def _refusal(hosts: set[str], method: str, given: dict[str, str]) -> tuple[int, str] | None:
    """The code and the sentence for a request that is not let in."""
    length = given.get("content-length", "")
    if given.get("host") not in hosts:
        return 400, "This server answers to 127.0.0.1 and localhost only."
    if given.get("origin", f"http://{given['host']}").removeprefix("http://") not in hosts:
        return 403, "Another page may not use this server."
    if method == "POST" and given.get("content-type", "").split(";")[0] != "application/json":
        return 415, "Questions are JSON."
    if method == "POST" and not length.isdecimal():
        return 411, "A question says how long it is."
    if length.isdecimal() and int(length) > MAX_BODY:
        return 413, f"A question has at most {MAX_BODY} bytes."
    return None


def serve(
    port: int = 0,
    data: dict[str, Any] | None = None,
    opened: Callable[[str], None] | None = None,
) -> None:
    """Serve until Ctrl-C; ``opened`` is called with the address when the page can be loaded."""
    # Of a socket that names its protocol, asyncio sends small packets at once: 40 ms less.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise ValueError(f"Port {port} cannot be used: {(error.strerror or '').lower()}.") from None
    listener.listen()
    chosen = listener.getsockname()[1]
    token = None if data is None else secrets.token_urlsafe(18)
    address = f"http://127.0.0.1:{chosen}/" + ("" if token is None else f"?token={token}")
    config = uvicorn.Config(
        build(chosen, data, token), log_level="warning", access_log=False, lifespan="off", ws="none"
    )
    with contextlib.suppress(KeyboardInterrupt):  # the way to end it
        if opened is not None:
            opened(address)  # connections wait in the listener's queue
        uvicorn.Server(config).run(sockets=[listener])


async def _json(request: Request) -> Any:
    """The body; the guard has seen its length, and the protocol holds it to that."""
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise HTTPException(400, "The question is not JSON.") from None
    if not isinstance(body, dict):
        raise HTTPException(422, "A question is a JSON object.")
    return body


async def _sentence(request: Request, error: Exception) -> Response:
    """An error as JSON with a sentence."""
    if not isinstance(error, HTTPException):
        raise error
    return JSONResponse({"error": error.detail}, error.status_code)
