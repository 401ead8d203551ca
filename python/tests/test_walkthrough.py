"""docs/python.md: its blocks are one program, and what it says of expressions is so."""
import ast
import contextlib
import io
import os
import pathlib
import re

TEXT = (pathlib.Path(os.environ["U9_ROOT"]) / "docs/python.md").read_text()


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


def test_the_walk_through_does_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, compared = {}, 0
    for code in re.findall(r"```python\n(.*?)```", TEXT, re.S):
        gave = run(code, names)
        for number, line in enumerate(code.splitlines(), 1):
            if line.startswith("# -> "):
                assert gave[number - 1] == line[5:], code
                compared += 1
    assert compared > 25
