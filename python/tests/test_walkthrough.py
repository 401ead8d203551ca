"""docs/python.md: its blocks are one program, and what it says of expressions is so. The same of README.md."""
import ast
import contextlib
import io
import os
import pathlib
import re

ROOT = pathlib.Path(os.environ["U9_ROOT"])


def run(code, names):
    """Runs a block. Gives, by the line that it ends in, what each expression and each print gave."""
    gave = {}
    for node in ast.parse(code).body:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            if isinstance(node, ast.Expr):
                value = eval(compile(ast.Expression(node.value), "docs/python.md", "eval"), names)
                gave[node.end_lineno] = said.getvalue().rstrip("\n") or repr(value)
            else:
                exec(compile(ast.Module([node], []), "docs/python.md", "exec"), names)
                gave[node.end_lineno] = said.getvalue().rstrip("\n")
    return gave


def compare(page, tmp_path, monkeypatch):
    """Runs the blocks of a page; how many expressions it says something of."""
    monkeypatch.chdir(tmp_path)
    names, compared = {}, 0
    for code in re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.S):
        gave = run(code, names)
        for number, line in enumerate(code.splitlines(), 1):
            if line.startswith("# -> "):
                assert gave[number - 1] == line[5:], code
                compared += 1
    return compared


def test_the_walk_through_does_what_it_says(tmp_path, monkeypatch):
    assert compare("docs/python.md", tmp_path, monkeypatch) > 25


def test_so_does_readme(tmp_path, monkeypatch):
    assert compare("README.md", tmp_path, monkeypatch) > 0
