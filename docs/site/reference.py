#!/usr/bin/python3
"""Fills the generated parts of the reference: docs/site/reference.py BINARY FOLDER.

FOLDER is a copy of the documents. The line `<!-- generated -->` of docs/reference/command-line.md is replaced by every
subcommand with its options, read from the binary's own help. That of docs/reference/python.md is replaced by the
classes and functions of the Python module, read from its stubs. In the tables of all pages `a\\|b` becomes `a|b` inside
code, where GitHub needs the backslash and MkDocs would show it.
"""
import ast
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARK = "<!-- generated -->"

sys.path.insert(0, str(ROOT / "packaging"))
from documents import read_command  # noqa: E402


def code(text):
    """Code in a cell of a table."""
    return "`" + text.replace("|", "\\|") + "`"


def cell(text):
    """Text as it is, in a cell of a table."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def command_line(binary):
    lines = []
    for command in read_command(binary, ["fovea"]).commands:
        lines += command_section(command, "##")
    return "\n".join(lines)


def command_section(command, level):
    lines = [f"{level} {' '.join(command.words)}", "", f"{command.about[:1].upper()}{command.about[1:].rstrip('.')}.", ""]
    lines += ["```text", command.usage, "```", ""]
    for heading, entries in command.groups.items():
        shown = [entry for entry in entries if "--help" not in entry.names]
        if not shown:
            continue
        lines += [f"**{heading}**", "", "| option | meaning |", "| --- | --- |"]
        lines += [f"| {code(entry.term)} | {cell(entry.text)} |" for entry in shown] + [""]
    for below in command.commands:
        lines += command_section(below, level + "#")
    return lines


def signature(function, owner=None):
    """A function of the stubs as one would call it; without the types, which the stubs have."""
    arguments, found = function.args, []
    positional = arguments.args[1:] if owner and not is_static(function) else arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + list(arguments.defaults)
    for argument, default in zip(positional, defaults[-len(positional):] if positional else []):
        found.append(argument.arg if default is None else f"{argument.arg}={ast.unparse(default)}")
    if arguments.kwonlyargs:
        found.append("*")
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        found.append(argument.arg if default is None else f"{argument.arg}={ast.unparse(default)}")
    returned = ast.unparse(function.returns) if function.returns else ""
    arrow = f" → {returned}" if returned not in ("", "None") else ""
    return "\n".join(textwrap.wrap(f"{function.name}({', '.join(found)}){arrow}", 88, subsequent_indent=" " * 8))


def is_static(function):
    return any(getattr(each, "id", "") == "staticmethod" for each in function.decorator_list)


def is_property(function):
    return any(getattr(each, "id", "") == "property" for each in function.decorator_list)


def class_section(node):
    lines, fields, methods, start = [f"### {node.name}", ""], [], [], None
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            fields.append((part.target.id, ast.unparse(part.annotation)))
        elif isinstance(part, ast.FunctionDef) and is_property(part):
            fields.append((part.name, ast.unparse(part.returns)))
        elif isinstance(part, ast.FunctionDef) and part.name == "__init__":
            start = part
        elif isinstance(part, ast.FunctionDef) and part.name == "__call__":
            methods.append(signature(part, node).replace("__call__", "object", 1))
        elif isinstance(part, ast.FunctionDef) and not part.name.startswith("_"):
            methods.append(signature(part, node))
    calls = ([signature(start, node).replace("__init__", node.name, 1)] if start else []) + methods
    if calls:
        lines += ["```python", *calls, "```", ""]
    if fields:
        lines += ["| field | type |", "| --- | --- |"]
        lines += [f"| {code(name)} | {code(kind)} |" for name, kind in fields] + [""]
    if node.bases and not calls and not fields:
        lines += [f"Derived from {', '.join(f'`{ast.unparse(base)}`' for base in node.bases)}.", ""]
    return lines


def python(stubs):
    functions, classes = [], []
    for node in ast.parse(stubs.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            functions.append(signature(node))
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            classes += class_section(node)
    return "\n".join(["## Functions", "", "```python", *functions, "```", "", "## Classes", "", *classes])


def fill(page, text):
    before = page.read_text(encoding="utf-8")
    if before.count(MARK) != 1:
        sys.exit(f"{page}: must have one line {MARK}")
    page.write_text(before.replace(MARK, text), encoding="utf-8")


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[2])
    fill(folder / "docs/reference/command-line.md", command_line(sys.argv[1]))
    fill(folder / "docs/reference/python.md", python(ROOT / "bindings" / "python" / "fovea" / "_fovea.pyi"))
    for page in folder.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(re.sub(r"`[^`\n]*`", lambda code: code[0].replace("\\|", "|"), text), encoding="utf-8")
