"""The lab's server answers this machine's own page, and refuses the rest in sentences."""

from __future__ import annotations

import http.client
import json
import signal
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


@pytest.mark.parametrize(
    ("expected", "body", "headers"),
    [
        (400, XOR, {"host": "evil.example"}),
        (400, XOR, {"host": "127.0.0.1.evil.example"}),
        (403, XOR, {"origin": "http://evil.example"}),
        (403, XOR, {"origin": "null"}),
        (415, XOR, {"content_type": "text/plain"}),
        (413, "[" * 70_000, {}),
        (400, "{", {}),
        (400, "[" * 60_000, {}),
        (422, [], {}),
        (422, {"points": [[0, 0, 1]] * 301}, {}),
        (400, '{"points": [[NaN, 0, 1]]', {}),
        (422, '{"points": [[NaN, 0, 1]]}', {}),
        (422, '{"points": [[1e999, 0, 1]]}', {}),
        (422, {"points": [], "order": ["cyclic"]}, {}),
    ],
)
def test_refusals(server: Server, expected: int, body: object, headers: dict[str, str]) -> None:
    code, told, policy = ask(server, "POST", "/api/run", body, **headers)
    assert code == expected
    sentence = told["error"] if isinstance(told, dict) else told
    assert sentence.endswith(".")
    assert "content-security-policy" in policy


def test_a_body_without_its_length_is_refused(server: Server) -> None:
    line = http.client.HTTPConnection("127.0.0.1", server.port)
    headers = {"content-type": "application/json"}
    line.request("POST", "/api/run", iter([b"{}"]), headers, encode_chunked=True)
    assert line.getresponse().status == 411
    line.close()


def test_own_origin_is_let_in(server: Server) -> None:
    code, _, _ = ask(server, "POST", "/api/run", XOR, origin=server.root)
    assert code == 200


def test_no_file_without_a_file(server: Server) -> None:
    code, told, _ = ask(server, "GET", "/api/data?token=x")
    assert code == 403
    assert told["error"].endswith(".")
    assert ask(server, "GET", "/static/../study.py")[0] == 404
    assert ask(server, "GET", "/api/run")[0] == 405


def test_a_port_that_is_taken_is_a_sentence(server: Server) -> None:
    done = inside("lab", "--no-open", "--port", str(server.port))
    assert done.code == 2
    assert done.err.startswith(f"novikoff: Port {server.port} cannot be used")


def test_ctrl_c_ends_it() -> None:
    running = Server()
    running.process.send_signal(signal.SIGINT)
    code = running.process.wait()
    running.stop()
    assert code == 0


def test_a_file_only_with_the_token(tmp_path: Path) -> None:
    pytest.importorskip("starlette")
    data = tmp_path / "two.csv"
    data.write_text("a,b,c,kind\n0,5,1,no\n1,6,3,yes\n2,7,4,yes\n")
    server = Server(str(data), "--x", "c", "--y", "a")
    try:
        path = server.address.removeprefix(f"{server.root}/")
        code, told, _ = ask(server, "GET", f"/api/data{path}")
        assert code == 200
        assert told["question"]["points"] == [[1, 0, -1], [3, 1, 1], [4, 2, 1]]
        assert "yes" in told["title"]
        assert ask(server, "GET", "/api/data")[0] == 403
        assert ask(server, "GET", "/api/data?token=")[0] == 403
    finally:
        server.stop()
