"""The lab's server: the page at once, answers by the library, for this machine alone.

It listens on 127.0.0.1, refuses other hosts and origins, takes JSON of at most 64 kB and sends a
policy under which the page can load nothing from elsewhere. Kernels are compiled beside it, so
that the first page need not wait for them.
"""

from __future__ import annotations

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
# What has to be loaded or compiled before the first answer, as the page names it.
STAGES = ("library", "verdict and run", "pocket")


class Readiness:
    """How far the library is; compiled in a thread of its own."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.failed: str | None = None

    def start(self) -> None:
        """Begin to compile."""
        threading.Thread(target=self._warm_up, daemon=True).start()

    def _warm_up(self) -> None:
        try:
            from novikoff.lab import study

            self.done.append(STAGES[0])
            question = study.Question(((0.0, 0.0, -1), (0.0, 1.0, 1), (1.0, 1.0, -1)))
            study.answer(question)
            self.done.append(STAGES[1])
            study.pocket(question)
            self.done.append(STAGES[2])
        except Exception as error:
            self.failed = f"{type(error).__name__}: {error}"
            raise


def build(port: int, data: dict[str, Any] | None = None, token: str | None = None) -> ASGIApp:
    """The application for a server on this port; ``data`` is shown to whoever has the token."""
    readiness = Readiness()

    async def ready(request: Request) -> Response:
        stages = [{"name": name, "done": name in readiness.done} for name in STAGES]
        return JSONResponse({"version": __version__, "stages": stages, "failed": readiness.failed})

    async def page(request: Request) -> Response:
        return Response((STATIC / "index.html").read_bytes(), media_type="text/html")

    async def own_data(request: Request) -> Response:
        given = request.query_params.get("token", "")
        if data is None or token is None or not secrets.compare_digest(given, token):
            raise HTTPException(403, "This needs the address that novikoff lab printed.")
        return JSONResponse(data)

    def answering(job: Callable[[Any], object]) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            body = await _json(request)
            try:
                return JSONResponse(await run_in_threadpool(job, body))
            except ValueError as error:  # a sentence for the user
                raise HTTPException(422, str(error)) from None

        return endpoint

    def posted(path: str, job: Callable[[Any], object]) -> Route:
        return Route(f"/api/{path}", answering(job), methods=["POST"])

    app = Starlette(
        routes=[
            Route("/", page),
            Route("/api/ready", ready),
            Route("/api/data", own_data),
            posted("run", _run),
            posted("pocket", _pocket),
            posted("voted", _voted),
            posted("export", _export),
            Mount("/static", StaticFiles(directory=str(STATIC))),
        ],
        exception_handlers={HTTPException: _sentence},
    )
    readiness.start()
    return Guard(app, port)


class Guard:
    """Lets in requests of this machine's own page, of a sensible size."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse with a sentence."""
        if scope["type"] != "http":  # the server's own start and end
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *more]
            await send(message)

        given = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        refused = self._refusal(scope["method"], given)
        if refused is not None:
            code, sentence = refused
            response = PlainTextResponse(sentence, code)
            await response(scope, receive, with_headers)
            return
        await self.app(scope, receive, with_headers)

    def _refusal(self, method: str, headers: dict[str, str]) -> tuple[int, str] | None:
        if headers.get("host") not in self.hosts:
            return 400, "This server answers to 127.0.0.1 and localhost only."
        origin = headers.get("origin")
        if origin is not None and origin.removeprefix("http://") not in self.hosts:
            return 403, "Another page may not use this server."
        if method == "POST":
            if headers.get("content-type", "").split(";")[0].strip() != "application/json":
                return 415, "Questions are JSON."
            length = headers.get("content-length", "")
            if not length.isdecimal():
                return 411, "A question says how long it is."
            if int(length) > MAX_BODY:
                return 413, f"A question has at most {MAX_BODY} bytes."
        return None


def serve(
    port: int = 0,
    data: dict[str, Any] | None = None,
    opened: Callable[[str], None] | None = None,
) -> None:
    """Serve until Ctrl-C; ``opened`` is called with the address when the page can be loaded."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen()
    chosen = listener.getsockname()[1]
    token = None if data is None else secrets.token_urlsafe(18)
    address = f"http://127.0.0.1:{chosen}/" + ("" if token is None else f"?token={token}")
    config = uvicorn.Config(
        build(chosen, data, token), log_level="warning", access_log=False, lifespan="off", ws="none"
    )
    if opened is not None:
        opened(address)  # connections wait in the listener's queue
    uvicorn.Server(config).run(sockets=[listener])


def _run(body: Any) -> object:
    from novikoff.lab.study import Question, answer

    return answer(Question.from_json(body))


def _pocket(body: Any) -> object:
    from novikoff.lab.study import Question, pocket

    return pocket(Question.from_json(body))


def _voted(body: Any) -> object:
    from novikoff.lab.study import Question, voted

    return voted(Question.from_json(body.get("question")), body.get("box"))


def _export(body: Any) -> object:
    from novikoff.lab.export import export

    return export(body)


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
