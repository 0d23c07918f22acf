#!/usr/bin/env python3
"""page.py PAGE BINARY: the commands of a page of the documentation work and print what the page says.

One shell runs the fenced `sh` blocks of PAGE in an empty folder, with `fovea` and the example programs ($FOVEA_EXAMPLES)
on the path and a link to the repository's models/. A `text` block directly after an `sh` block is its output: the block
must print every line that has no …, in this order. `<!-- check: COMMAND -->` is a command that readers do not see.
Blocks in other languages (`bash`) are not run. Port 5000 is replaced by a free one. Ends with 77 where something that
the page needs is missing.
"""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$|^<!-- check: (.*?) -->$", re.MULTILINE | re.DOTALL)
MARK = "--- block {} ---"
# Debian's Python first: it has Debian's NumPy.
PATH = ":".join(filter(None, [os.environ.get("FOVEA_EXAMPLES"), "/usr/bin", os.environ["PATH"]]))


def blocks_of(text):
    """Shell commands, each with the output that the page shows for it, or None."""
    found, end = [], 0
    for match in BLOCK.finditer(text):
        language, body, check = match.groups()
        if check:
            found.append([f"if ! ( {check} ); then echo {shell_word('not so: ' + check)} >&2; exit 1; fi", None])
        elif language == "sh":
            found.append([body, None])
        elif language == "text" and not text[end:match.start()].strip():
            [block for block in found if not block[0].startswith("if ! (")][-1][1] = body
        end = match.end()
    return found


def shell_word(text):
    return "'" + text.replace("'", "'\\''") + "'"


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return str(sock.getsockname()[1])


def missing(shown, printed):
    """The first line of `shown` that is not among the lines of `printed`, after those before it."""
    lines = iter(line.rstrip() for line in printed.splitlines())
    for line in shown.splitlines():
        if line.strip() and "…" not in line and not any(line.rstrip() == other for other in lines):
            return line
    return None


def present(name):
    if name == "numpy":
        return subprocess.run(["python3", "-c", "import numpy"], env=dict(os.environ, PATH=PATH), check=False,
                              capture_output=True).returncode == 0
    return (ROOT / name).exists() if "/" in name else shutil.which(name, path=PATH)


def run(page, blocks, folder, binary):
    (folder / "bin").mkdir()
    (folder / "bin" / "fovea").symlink_to(pathlib.Path(binary).resolve())
    work = folder / "work"
    work.mkdir()
    if (ROOT / "models").exists():
        (work / "models").symlink_to(ROOT / "models")
    script = 'set -eu -m; trap "kill \\$(jobs -p) 2>/dev/null || true" EXIT\n'
    for number, (commands, _) in enumerate(blocks):
        script += f"echo '{MARK.format(number)}'\n{commands}\n"
    (folder / "commands").write_text(re.sub(r"\b5000\b", free_port(), script), encoding="utf-8")
    environment = dict(os.environ, NO_COLOR="1", PATH=f"{folder / 'bin'}:{PATH}")
    done = subprocess.run(["bash", str(folder / "commands")], cwd=work, env=environment, timeout=220,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{page}: {done.stdout[-500:]}\n{done.stderr[-1500:]}")
    for number, (commands, shown) in enumerate(blocks):
        printed = done.stdout.split(MARK.format(number) + "\n", 1)[1].split(MARK.format(number + 1) + "\n", 1)[0]
        line = missing(shown, printed) if shown else None
        if line is not None:
            sys.exit(f"{page}: the commands\n{commands}print\n{printed}without the line\n{line}")


def main():
    page, binary = pathlib.Path(sys.argv[1]), sys.argv[2]
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    if not blocks:
        sys.exit(f"{page}: no command to run")
    commands = "\n".join(commands for commands, _ in blocks)
    for name in [*re.findall(r"\bcurl\b|\bexample_\w+", commands), *re.findall(r"\bmodels/[\w-]+", commands), "numpy"]:
        if name in commands and not present(name):
            print(f"skipped: no {name}")
            sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        run(page, blocks, pathlib.Path(folder), binary)
    print(f"{page.name}: {len(blocks)} blocks")


if __name__ == "__main__":
    main()
