"""The stubs name what is there, all of it, and nothing else."""
import ast
import pathlib

import u9

HERE = pathlib.Path(u9.__file__).parent


def names_of(tree):
    return {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


def test_the_package_says_that_it_has_types():
    assert (HERE / "py.typed").exists()


def test_the_stubs_have_every_public_name():
    tree = ast.parse((HERE / "__init__.pyi").read_text())
    stubbed = set(names_of(tree))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            stubbed |= {alias.asname for alias in node.names}
    assert stubbed == set(u9.__all__)


def test_the_stubs_have_every_method_and_field_of_every_class():
    for name, node in names_of(ast.parse((HERE / "__init__.pyi").read_text())).items():
        if not isinstance(node, ast.ClassDef):
            continue
        stubbed = {n.name for n in node.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")}
        there = {n for n in vars(getattr(u9, name)) if not n.startswith("_")}
        assert stubbed == there, name
