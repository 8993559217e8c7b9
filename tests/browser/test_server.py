"""The lab's server answers the page on this machine, and rejects other requests with an error."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Server
from tests.cli.conftest import inside

XOR = {"points": [[0, 0, -1], [0, 1, 1], [1, 0, 1], [1, 1, -1]]}


def ask(
    server: Server, method: str, path: str, body: object = None, **headers: str
) -> tuple[int, Any, dict[str, str]]:
    line = http.client.HTTPConnection("127.0.0.1", server.port)
    text = body if isinstance(body, str) else json.dumps(body)
    given = {
        "content-type": "application/json",
        **{k.replace("_", "-"): v for k, v in headers.items()},
    }
    line.request(method, path, None if body is None else text.encode(), given)
    reply = line.getresponse()
    content = reply.read()
    line.close()
    known = reply.getheader("content-type") or ""
    told = json.loads(content) if known.startswith("application/json") else content.decode()
    return reply.status, told, {k.lower(): v for k, v in reply.getheaders()}


def test_the_page_and_its_policy(server: Server) -> None:
    code, text, headers = ask(server, "GET", "/")
    assert code == 200
    assert '<main id="lab"' in text
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-type"].startswith("text/html")


def test_an_answer(server: Server) -> None:
    code, told, _ = ask(server, "POST", "/api/run", XOR)
    assert (code, told["kind"]) == (200, "inseparable")
    code, told, _ = ask(server, "POST", "/api/pocket", XOR)
    assert (code, told["errors"], told["bound"]) == (200, 1, 1)


REFUSED: list[tuple[int, object, dict[str, str]]] = [
    (400, XOR, {"host": "evil.example"}),
    (400, XOR, {"host": "127.0.0.1.evil.example"}),
    (403, XOR, {"origin": "http://evil.example"}),
    (403, XOR, {"origin": "null"}),
    (415, XOR, {"content_type": "text/plain"}),
    (413, "[" * 70_000, {}),
    (400, "{", {}),
    (400, "[" * 60_000, {}),
    (400, [], {}),
    (400, '{"points": [], "points": []}', {}),
    (422, {"points": [[0, 0, 1]] * 301}, {}),
    (400, '{"points": [[NaN, 0, 1]]', {}),
    (400, '{"points": [[NaN, 0, 1]]}', {}),
    (400, '{"points": [[1e999, 0, 1]]}', {}),
    (422, {"points": [], "order": ["cyclic"]}, {}),
]


@pytest.mark.parametrize(
    ("expected", "body", "headers"), REFUSED,
    ids=[f"{code}-{str(body)[:40]}-{headers}" for code, body, headers in REFUSED],
)  # fmt: skip
def test_a_bad_request_is_rejected(
    server: Server, expected: int, body: object, headers: dict[str, str]
) -> None:
    code, told, policy = ask(server, "POST", "/api/run", body, **headers)
    assert code == expected
    assert told.endswith(".")
    assert "content-security-policy" in policy


def test_the_page_s_own_origin_is_accepted(server: Server) -> None:
    assert ask(server, "POST", "/api/run", XOR, origin=server.root)[0] == 200


def test_a_body_without_its_length_is_rejected(server: Server) -> None:
    line = http.client.HTTPConnection("127.0.0.1", server.port)
    headers = {"content-type": "application/json"}
    line.request("POST", "/api/run", iter([b"{}"]), headers, encode_chunked=True)
    assert line.getresponse().status == 411
    line.close()


@contextlib.contextmanager
def in_a_thread(data: dict[str, Any] | None = None, token: str | None = None) -> Iterator[int]:
    """A server with the settings of ``novikoff lab`` in this process; its port."""
    uvicorn = pytest.importorskip("uvicorn", reason="the lab needs uvicorn")
    from novikoff.page import server

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        running = uvicorn.Server(server.settings(server.build(port, data, token)))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield port
        finally:
            running.should_exit = True
            thread.join()


def exchange(port: int, *pieces: bytes) -> bytes:
    """Send pieces as long as they are taken, and read until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        heard = b""
        try:
            for piece in pieces:
                line.sendall(piece)
            while more := line.recv(1 << 16):
                heard += more
        except (ConnectionResetError, BrokenPipeError):
            pass  # the server closed the connection while more was being sent
        return heard


HEAD = b"POST /api/run HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\n"
CHUNK = b"10000\r\n" + b" " * 0x10000 + b"\r\n"


@pytest.mark.parametrize("said", [b"Content-Length: 2\r\n", b""])
def test_a_chunked_question_does_not_pass_the_limit(said: bytes) -> None:
    """The limit does not depend on the length in the head: a chunked body states no length."""
    with in_a_thread() as port:
        head = HEAD % port + said + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        # Only the head is sent: the server rejects it and closes the connection, and a body that
        # nobody reads could make the system drop the answer.
        heard = exchange(port, head)
        assert heard.startswith(b"HTTP/1.1 411")


def test_the_bytes_of_a_question_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit also holds for a request that passes the guard."""
    from novikoff.page import server

    monkeypatch.setattr(server, "_refusal", lambda port, request: None)
    with in_a_thread() as port:
        head = HEAD % port + b"Transfer-Encoding: chunked\r\n\r\n"
        heard = exchange(port, head, CHUNK, CHUNK)  # without the last, empty chunk
        assert heard.startswith(b"HTTP/1.1 413")
        assert b"at most 65536 bytes" in heard


def test_half_a_request_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    from novikoff.page import server

    monkeypatch.setattr(server, "PATIENCE", 2.0)
    with in_a_thread() as port, ThreadPoolExecutor() as lines:  # all of them wait together
        whole = b"GET /api/ready HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n" % port
        silent = lines.submit(exchange, port)
        half = lines.submit(exchange, port, b"GET / HTTP/1.1\r\nHost: 127")
        body = lines.submit(exchange, port, HEAD % port + b"Content-Length: 99\r\n\r\n{")
        second = lines.submit(exchange, port, whole, whole[:9])
        assert silent.result() == half.result() == b""
        assert body.result().startswith(b"HTTP/1.1 408")
        assert second.result().count(b"HTTP/1.1 200 OK") == 1


@pytest.mark.parametrize("token", ["%C3%A9", "%FF", "", "%00", "secre"])
def test_a_wrong_token_is_rejected(token: str) -> None:
    with in_a_thread({"title": "mine"}, "secret") as port:
        line = http.client.HTTPConnection("127.0.0.1", port)
        line.request("GET", f"/api/data?token={token}")
        reply = line.getresponse()
        assert reply.status == 403
        assert "default-src 'self'" in str(reply.getheader("content-security-policy"))
        reply.read()
        line.request("GET", "/api/data?token=secret")
        assert json.loads(line.getresponse().read()) == {"title": "mine"}
        line.close()


def test_no_file_without_a_file(server: Server) -> None:
    code, told, _ = ask(server, "GET", "/api/data?token=x")
    assert code == 403
    assert told.endswith(".")
    assert ask(server, "GET", "/static/../answers.py")[0] == 404
    assert ask(server, "GET", "/api/run")[0] == 405
    assert ask(server, "POST", "/api/shell", {})[:2] == (
        422, "The page can ask for run, pocket, sides, export."
    )  # fmt: skip


def test_a_port_that_is_in_use_is_an_error(server: Server) -> None:
    done = inside("lab", "--no-open", "--port", str(server.port))
    assert done.code == 2
    assert done.err.startswith(f"novikoff: Port {server.port} cannot be used")


def test_ctrl_c_ends_it(installed: Path) -> None:
    running = Server(installed)
    running.process.send_signal(signal.SIGINT)
    code = running.process.wait()
    running.stop()
    assert code == 0


def test_a_file_only_with_the_token(tmp_path: Path, installed: Path) -> None:
    pytest.importorskip("starlette")
    data = tmp_path / "two.csv"
    data.write_text("a,b,c,kind\n0,5,1,no\n1,6,3,yes\n2,7,4,yes\n")
    server = Server(installed, str(data), "--x", "c", "--y", "a")
    try:
        path = server.address.removeprefix(f"{server.root}/")
        code, told, _ = ask(server, "GET", f"/api/data{path}")
        assert code == 200
        assert told["question"]["points"] == [[1, 0, -1], [3, 1, 1], [4, 2, 1]]
        assert told["question"]["names"] == ["c", "a"]
        assert "yes" in told["title"]
        assert ask(server, "GET", "/api/data")[0] == 403
        assert ask(server, "GET", "/api/data?token=")[0] == 403
    finally:
        server.stop()


def test_an_offline_page_from_the_command_line(tmp_path: Path) -> None:
    data, page = tmp_path / "two.csv", tmp_path / "page.html"
    data.write_text("a,b,kind\n0,5,no\n1,6,yes\n2,7,yes\n")
    done = inside("lab", str(data), "--export", str(page))
    assert (done.code, done.err) == (0, "")
    assert '"points":[[0.0,5.0,-1],[1.0,6.0,1],[2.0,7.0,1]]' in page.read_text(encoding="utf-8")
    data.write_text("a,b,c,kind\n0,5,1,no\n1,6,1,yes\n2,7,1,yes\n")
    done = inside("lab", str(data), "--export", str(page), "--force")
    assert "shows a and b, two of 3 features, and its answers are about these two alone" in done.err
    assert (
        inside("lab", str(data), "--x", "c", "--y", "a", "--export", str(page), "--force").err == ""
    )
    assert "already exists" in inside("lab", "--export", str(page)).err
    assert inside("lab", "--export", str(page), "--force").code == 0


@pytest.mark.parametrize("minus", ["-", "−"])
def test_plus_and_minus_in_a_file_keep_their_sides(tmp_path: Path, minus: str) -> None:
    data, page = tmp_path / "two.csv", tmp_path / "page.html"
    data.write_text(f"a,b,kind\n0,5,{minus}\n1,6,+\n2,7,+\n", encoding="utf-8")
    assert inside("lab", str(data), "--export", str(page)).code == 0
    assert '"points":[[0.0,5.0,-1],[1.0,6.0,1],[2.0,7.0,1]]' in page.read_text(encoding="utf-8")


TWO = "a,b,k\n0,1,x\n1,2,y\n"
THREE = "a,b,k\n0,1,x\n1,2,y\n2,3,z\n"
NOT_DRAWN = {
    "three classes": (THREE, [], "--positive x draws this class against all"),
    "no such class": (THREE, ["--positive", "w"], "there are x, y, z"),
    "one feature": ("a,k\n0,x\n1,y\n", [], "one feature"),
    "too many points": ("a,b,k\n" + "0,1,x\n1,2,y\n" * 151, [], "--plot all.svg"),
    "--x alone": (TWO, ["--x", "a"], "must be given together"),
    "no such feature": (TWO, ["--x", "a", "--y", "nope"], '"nope" (--y)'),
    "large numbers": ("a,b,k\n0,1,x\n1,1e9,y\n", [], "10⁶"),
}


@pytest.mark.parametrize(("rows", "words", "complaint"), NOT_DRAWN.values(), ids=NOT_DRAWN)
def test_a_file_that_cannot_be_drawn(
    tmp_path: Path, rows: str, words: list[str], complaint: str
) -> None:
    data, page = tmp_path / "data.csv", tmp_path / "page.html"
    data.write_text(rows)
    done = inside("lab", str(data), "--export", str(page), *words)
    assert (done.code, page.exists()) == (2, False)
    assert complaint in done.err
