"""Help, wrong usage, output on a terminal, and the packages that commands import."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from novikoff import __version__
from tests.cases import case_named
from tests.cli.conftest import COMPILING, PROGRESS, Files, inside, on_terminal, script


@pytest.mark.parametrize(
    "command",
    [
        *("fit", "separation", "predict", "verify", "info", "stream", "solve", "lab"),
        "completion",
    ],
)
def test_every_command_has_its_help(command: str) -> None:
    assert re.search(rf"^  {command}  +[A-Z]", inside("--help").out, re.MULTILINE)
    full = inside(command, "--help")
    assert full.out.startswith(f"Usage: novikoff {command}")
    assert inside(command, "-h") == inside("help", command) == full
    assert "\n  Examples:\n    " in full.out


def test_help_and_version() -> None:
    done = inside("--help")
    assert (done.code, done.err) == (0, "")
    assert "130 interrupted" in done.out
    assert inside("help").out == done.out
    for words in (["--version"], ["-V"]):
        with case_named(words):
            assert inside(*words).out == f"novikoff {__version__}\n"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["zzz"], "No such command 'zzz'.\n"),
        (["fitt"], "No such command 'fitt'. Did you mean fit?"),
        (["help", "verfy"], "Did you mean verify?"),
        ([__file__], f"novikoff fit {__file__}"),
        (["completion", "tcsh"], "'bash', 'zsh', 'fish'"),
        (["fit"], "Missing argument 'DATA'"),
        (["fit", "x.csv", "--colour", "red"], "No such option"),
        (
            ["fit", "x.csv", "--holdout", "0.2", "--cv", "3"],
            "cannot be used together",
        ),
        (["fit", "x.csv", "--no-verdict", "--require", "separable"], "needs a verdict"),
        (["fit", "x.csv", "--average"], "needs --no-verdict"),
        (["fit", "x.csv", "--holdout", "1"], "--holdout"),
        (["fit", "x.csv", "--cv", "1"], "--cv"),
        (["fit", "x.csv", "--budget", "0"], "--budget"),
        (["fit", "x.csv", "--epochs", "0"], "--epochs"),
        (["fit", "x.csv", "--seed", "-1"], "--seed"),
        (["fit", "x.csv", "--order", "sorted"], "--order"),
        (["fit", "x.csv", "--scale", "log"], "--scale"),
        (["fit", "x.csv", "--max-memory", "much"], "--max-memory"),
        (["fit", "x.csv", "--max-memory", "1MB"], "700MB at least"),
        (["fit", "x.csv", "--format", "pdf"], "--format"),
        (["fit", "x.csv", "--require", "perfect"], "--require"),
        (["fit", "x.csv", "--plot", "x.pdf"], "must end with .svg or .png"),
        (["fit", "x.csv", "--plane", "a", "--plot", "x.svg"], "must name two features"),
        (["fit", "x.csv", "--plane", "a,b"], "needs --plot"),
        (["fit", "x.csv", "--drop", "a\nb"], "not a list of names"),
        (["fit", "x.csv", "--delimiter", "::"], "--delimiter"),
        (["fit", "x.csv", "--decimal", "7"], "--decimal"),
        (["predict", "x.novikoff"], "Missing argument 'DATA'"),
        (["verify", "x.json"], "Missing argument 'DATA'"),
        (["info", "x", "y"], "unexpected extra argument"),
        (["lab", "--x", "a", "--y", "b"], "need DATA"),
        (["lab", "--port", "70000"], "--port"),
    ],
)
def test_wrong_usage(words: list[str], complaint: str) -> None:
    done = inside(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: novikoff")
    assert complaint in done.err


def test_a_terminal_shows_steps_and_colour(files: Files, tmp_path: Path) -> None:
    code, out, err = on_terminal(["fit", str(files.line), "--out", str(tmp_path)])
    assert code == 0
    assert "\x1b[1;32mseparable" in out  # bold green
    assert "writing" in err  # the last step; earlier steps may be too fast to be drawn
    assert "0:00:" in err
    assert "proved" not in err
    code, out, err = on_terminal(["stream", str(files.line)])
    assert code == 0
    assert "5 rows · 2 features" in out
    assert re.search(r"[1-5] rows  \d mistakes", err)


def test_no_color(files: Files, tmp_path: Path) -> None:
    words = ["fit", str(files.line), "--format", "html", "--out", str(tmp_path)]
    code, out, _ = on_terminal(words, NO_COLOR="1")
    assert code == 0
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", out)  # no colours
    assert "separable (complete separation), proved" in re.sub(r"\x1b\[[0-9;]*m", "", out)
    # HTML is not shown on a terminal: it goes to a file, and the text is shown.
    assert "<html" not in out
    assert (tmp_path / "line.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_first_run_says_that_it_compiles(files: Files, tmp_path: Path) -> None:
    """It says so once, piped or not."""
    words = ("fit", files.line, "--out", tmp_path, "--force", "--format", "json")
    first = script(*words, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    second = script(*words, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert (first.code, second.code) == (0, 0)
    assert [PROGRESS.sub("", done.said) for done in (first, second)] == [COMPILING, ""]


# Run commands one after the other in one process, then print which packages were imported.
TOLD = """
import contextlib, io, json, sys
from novikoff.cli.main import run
for words in json.loads(sys.argv[1]):
    sys.argv = ["novikoff", *words]
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            run()
    except SystemExit as stop:
        assert stop.code == 0, words
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""


def packages(*commands: list[str]) -> set[str]:
    """The packages that a process has imported after these commands."""
    done = script(json.dumps(commands), start=[sys.executable, "-c", TOLD])
    assert done.code == 0, done.err
    return set(json.loads(done.out))


def test_commands_import_neither_scikit_learn_nor_pandas(files: Files, tmp_path: Path) -> None:
    model, proof = str(tmp_path / "iris.novikoff"), str(tmp_path / "iris.cert.json")
    data, out = str(files.iris), ["--out", str(tmp_path)]
    checked = [["verify", proof, data], ["info", model]]
    found = packages(
        ["fit", data, *out, "--cv", "2"],
        ["fit", str(files.line), *out, "--format", "json"],
        ["predict", model, data, "--scores"],
        ["stream", data, "--save", str(tmp_path / "stream.novikoff")],
        *checked,
    )
    assert "novikoff" in found
    assert found & {"sklearn", "pandas", "matplotlib"} == set()
    assert "numba" not in packages(*checked)
    quick = packages(["--help"], ["--version"])
    assert quick & {"numpy", "scipy", "numba", "pyarrow", "rich"} == set()


def test_it_says_so_once_in_a_process(capsys: pytest.CaptureFixture[str]) -> None:
    """Loops are compiled separately for each storage of rows."""
    compilation = import_module("novikoff.core.compilation")
    compilation.announce_compilation.cache_clear()
    for _ in range(2):
        compilation.announce_compilation()
    assert capsys.readouterr().err == COMPILING


@pytest.mark.parametrize(
    ("package", "words", "message"),
    [
        (
            "formulaic",
            ["separation", "DATA", "--formula", "label~a"],
            "A formula needs formulaic: pip install 'novikoff[formula]'",
        ),
        ("uvicorn", ["lab"], "The lab needs uvicorn: pip install 'novikoff[lab]'"),
        (
            "dask",
            ["fit", "FOLDER", "--cluster", "local:1"],
            "--cluster needs Dask: pip install 'novikoff[dask]'",
        ),
    ],
)
def test_a_missing_extra_says_what_to_install(
    package: str,
    words: list[str],
    message: str,
    tmp_path: Path,
) -> None:
    """In a process of its own: packages that are loaded already would hold what they imported."""
    data = tmp_path / "points.csv"
    data.write_text("a,b,label\n1,2,x\n2,3,y\n3,1,x\n")
    (tmp_path / "part.parquet").touch()
    code = f"import sys; sys.modules[{package!r}] = None; from novikoff.cli.main import run; run()"
    paths = {"DATA": str(data), "FOLDER": str(tmp_path)}
    done = subprocess.run(  # noqa: S603 — the interpreter of the tests, and words of this file
        [sys.executable, "-c", code, *(paths.get(word, word) for word in words)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"novikoff: {message}\n"


def test_every_option_stands_under_a_heading() -> None:
    for command in ("fit", "separation", "stream", "solve", "verify"):
        with case_named(command):
            text = inside("help", command).out
            headings = re.findall(r"^(\S.*):$", text, re.MULTILINE)
            assert headings[-1] == "Options"
            assert re.findall(r"^  (\S+)", text.partition("\nOptions:\n")[2], re.M) == ["-h,"]
            assert len(headings) > 2


@pytest.mark.parametrize(
    ("shell", "sign"),
    [("bash", "complete -o"), ("zsh", "#compdef novikoff"), ("fish", "complete ")],
)
def test_completion(shell: str, sign: str) -> None:
    done = inside("completion", shell)
    assert done.code == 0
    assert sign in done.out
    assert f"_NOVIKOFF_COMPLETE={shell}_complete" in done.out
    told = script(_NOVIKOFF_COMPLETE=f"{shell}_complete", COMP_WORDS="novikoff ver", COMP_CWORD="1")
    assert shell == "fish" or "verify" in told.out


def test_a_missing_extra_is_an_error_that_names_it(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("novikoff.cli.fit.find_spec", lambda name: None)
    done = inside("fit", files.line, "--plot", "x.svg")
    need = "novikoff: --plot needs matplotlib: pip install 'novikoff[plots]'\n"
    assert (done.code, done.out, done.err) == (2, "", need)


@pytest.mark.parametrize("positive", [["--positive", "first"], []])
def test_the_report_of_wine_fits_a_terminal(files: Files, positive: list[str]) -> None:
    words = ["fit", str(files.wine), "--no-files", *positive]
    code, shown, _ = on_terminal(words, COLUMNS="80", NO_COLOR="1")
    plain = re.sub(r"\x1b\[[0-9;]*m|\r", "", shown)
    piped = inside(*words, columns="80").out
    assert code == 0
    for output, text in {"terminal": plain, "pipe": piped}.items():
        with case_named(output):
            # The last line has file names, which are long in the tests.
            lines = text.splitlines()[:-1]
            assert len(lines) <= 15
            assert max(map(len, lines[1:])) <= 80
            assert "most 206 mistakes" in text
            assert "on standardised features" in text
            assert "411,013,538" not in text
    assert "411,013,538" in inside(*words, "--verbose").out


def test_errors_about_labels_and_rows_say_what_to_do(tmp_path: Path) -> None:
    one = tmp_path / "one.csv"
    one.write_text("a,b,kind\n1,2,p\n2,3,p\n", encoding="utf-8")
    done = inside("fit", one, "--no-files")
    assert (done.code, done.out) == (2, "")
    assert "every row has the label 'p' in column \"kind\"" in done.err
    assert "--label names another column" in done.err
    bad = tmp_path / "bad.csv"
    bad.write_text("a,kind\n1,p\n2,q\nx,q\n3,p\n", encoding="utf-8")
    assert inside("stream", bad).err.endswith(" --bad-rows skip skips such rows.\n")
    assert inside("stream", bad, "--bad-rows", "skip").code == 0
