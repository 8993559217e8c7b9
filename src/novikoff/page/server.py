"""The lab's server: it serves the page and answers its questions, for this machine only.

It listens on 127.0.0.1, rejects other hosts and origins, reads at most 64 kB of JSON, and closes
connections that send half a request. Its content security policy lets the page load nothing from
other hosts. A thread compiles the loops in the background, so that the first page does not wait for
them.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from novikoff.page.presets import STATIC

if TYPE_CHECKING:
    from starlette.middleware.base import RequestResponseEndpoint
    from starlette.requests import Request

MAX_BODY = 1 << 16
# The head of a request must arrive within this many seconds, and so must its body.
PATIENCE = 10.0
HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' blob: data:; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
_TOO_LONG = f"A question has at most {MAX_BODY} bytes."
# The stages of loading and compiling, as the page names them, each with a question that needs it.
STAGES = {"verdict and the run": "run", "pocket": "pocket"}


def serve(port: int, data: dict[str, Any] | None, opened: Callable[[str], None]) -> None:
    """Serve until Ctrl-C; ``opened`` is called with the address when the page can be loaded."""
    # asyncio sends small packets at once only on a socket that names TCP; this saves 40 ms.
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
    config = settings(build(chosen, data, token))
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C ends the server
        opened(address)  # connections wait in the queue of the listener
        uvicorn.Server(config).run(sockets=[listener])


def settings(app: Starlette) -> uvicorn.Config:
    """The settings with which the application is served."""
    return uvicorn.Config(
        app, http=Connection, log_level="warning", access_log=False, lifespan="off", ws="none"
    )


class Connection(H11Protocol):
    """A connection that is closed if no complete head of a request arrives in time.

    Without this, any program on this machine could keep connections open by sending half a
    request. `_body` sets the same limit for the body.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self.waiting.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self.waiting = self.loop.call_later(PATIENCE, self._look, self.cycle)

    def _look(self, before: object) -> None:
        """Close the connection if no request has begun since and none is being answered."""
        cycle = self.cycle
        if cycle is before and (cycle is None or cycle.response_complete):
            self.transport.close()
        else:
            self._wait()


def build(port: int, data: dict[str, Any] | None, token: str | None) -> Starlette:
    """The application for a server on this port; only requests with the token can read ``data``."""
    done: list[str] = []
    warming = threading.Thread(target=_warm_up, args=(done,), daemon=True)

    async def ready(request: Request) -> Response:
        if warming.ident is None:  # the page asks for this after its first picture
            warming.start()
        return JSONResponse([{"name": name, "done": name in done} for name in STAGES])

    async def page(request: Request) -> Response:
        return FileResponse(STATIC / "index.html")

    async def own_data(request: Request) -> Response:
        given = request.query_params.get("token", "").encode()
        if data is None or token is None or not secrets.compare_digest(given, token.encode()):
            raise HTTPException(403, "This needs the whole address that novikoff lab printed.")
        return JSONResponse(data)

    async def guard(request: Request, go_on: RequestResponseEndpoint) -> Response:
        refused = _refusal(port, request)
        reply = PlainTextResponse(*refused) if refused else await go_on(request)
        reply.headers.update(HEADERS)
        return reply

    return Starlette(
        routes=[
            Route("/", page),
            Route("/api/ready", ready),
            Route("/api/data", own_data),
            Route("/api/{what}", _reply, methods=["POST"]),
            Mount("/static", StaticFiles(directory=STATIC)),
        ],
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=guard)],
    )


def _refusal(port: int, request: Request) -> tuple[str, int] | None:
    """The message and the status code for a request that is rejected; None for a good request."""
    given, hosts = request.headers, (f"127.0.0.1:{port}", f"localhost:{port}")
    length, posted = given.get("content-length", ""), request.method == "POST"
    for good, code, sentence in (
        (given.get("host") in hosts, 400, "This server answers only to 127.0.0.1 and localhost."),
        (given.get("origin", f"http://{hosts[0]}") in [f"http://{host}" for host in hosts], 403,
         "Pages of other origins cannot use this server."),
        (not posted or given.get("content-type", "").split(";")[0] == "application/json", 415,
         "A question must have the content type application/json."),
        (not posted or (length.isdecimal() and "transfer-encoding" not in given), 411,
         "A question must have a Content-Length, and no Transfer-Encoding."),
        (int(length if length.isdecimal() else 0) <= MAX_BODY, 413, _TOO_LONG),
    ):  # fmt: skip
        if not good:
            return sentence, code
    return None


async def _reply(request: Request) -> Response:
    """Answer a question."""
    from novikoff.proofs.strict_json import parse_object  # here: the page opens without it

    try:
        body = parse_object((await _body(request)).decode(), "The question")
    except ValueError as error:
        raise HTTPException(400, f"{error}.") from None
    try:
        answer = await run_in_threadpool(_answer_question, request.path_params["what"], body)
    except ValueError as error:  # a message for the user
        raise HTTPException(422, str(error)) from None
    return JSONResponse(answer)


async def _body(request: Request) -> bytes:
    """Read the bytes of a question, at most MAX_BODY of them, whatever its head says."""
    read = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            async for piece in request.stream():
                read += piece
                if len(read) > MAX_BODY:
                    raise HTTPException(413, _TOO_LONG, {"connection": "close"})
    except TimeoutError:
        late = f"The question did not arrive within {PATIENCE:g} seconds."
        raise HTTPException(408, late, {"connection": "close"}) from None
    return bytes(read)


def _answer_question(what: str, body: dict[str, Any]) -> object:
    from novikoff.page.export import ANSWERS  # here: the page opens before the library is loaded

    if what not in ANSWERS:
        raise ValueError(f"The page can ask for {', '.join(ANSWERS)}.")
    return ANSWERS[what](body)


def _warm_up(done: list[str]) -> None:
    """Load and compile what the answers need, and add each finished stage to ``done``."""
    for stage, what in STAGES.items():
        _answer_question(what, {"points": [[0, 0, -1], [0, 1, 1], [1, 1, -1]]})
        done.append(stage)
