#!/usr/bin/env python3
"""documents.py BINARY: what the documents name exists.

Checked in every .md file: links to files and to headings; in fenced blocks, the subcommands and options of `fovea`, the
scripts of script/ and bench/, the syntax of Python, JSON and TOML; in running text, `fovea NAME` and script/NAME; in the
reference of config.json, every field that the headers declare.
"""
import ast
import functools
import json
import pathlib
import re
import shlex
import subprocess
import sys

try:
    import tomllib
except ModuleNotFoundError:  # Python before 3.11
    tomllib = None

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
HISTORY = {"CHANGELOG.md"}  # names options that are gone
errors = []


def pages():
    for path in sorted(ROOT.rglob("*.md")):
        inside = path.relative_to(ROOT)
        if inside.parts[0] not in ("build", ".git") and "node_modules" not in inside.parts and inside.parent.name != "site":
            yield inside


@functools.lru_cache(maxsize=None)
def help_of(words):
    for option in ("--help-all", "--help"):
        done = subprocess.run([sys.argv[1], *words, option], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout
    return ""


@functools.lru_cache(maxsize=None)
def subcommands(words):
    listed = re.search(r"^Subcommands:\n(.*)", help_of(words), re.MULTILINE | re.DOTALL)
    return set(re.findall(r"^  ([a-z]+) ", listed[1], re.MULTILINE)) if listed else set()


@functools.lru_cache(maxsize=None)
def options(words):
    return set(re.findall(r"--[a-z0-9][a-z0-9-]*", help_of(words))) | {"--help", "--help-all"}


@functools.lru_cache(maxsize=None)
def anchors(path):
    text = FENCE.sub("", (ROOT / path).read_text(encoding="utf-8"))
    found = set()
    for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        slug = re.sub(r"[^\w\- ]", "", title.strip().lower().replace("`", "")).replace(" ", "-")
        found |= {slug, re.sub(r"-+", "-", slug).strip("-")}
    if path.name == "command-line.md":  # its sections are made from the binary's help
        found |= {f"fovea-{name}" for name in subcommands(())}
    return found


def check_links(page, text):
    for match in LINK.finditer(FENCE.sub("", text)):
        link = match[1] or match[2]
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (ROOT / page).parent / file if file else ROOT / page
        if not target.exists():
            errors.append(f"{page}: link to {link}: no such file")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.resolve().relative_to(ROOT)):
            errors.append(f"{page}: link to {link}: no such heading")


def commands_in(block):
    """The simple commands of a shell block as lists of words."""
    text = re.sub(r"<<-?'?(\w+)'?\n.*?^\1$", "\n", block.replace("\\\n", " "), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"(^|\s)#.*$", "", text, flags=re.MULTILINE)
    lexer = shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars="();<>|&{}`")
    lexer.commenters = ""
    lexer.whitespace_split = True
    words = []
    try:
        for word in lexer:
            if word and set(word) <= set("();|&{}`"):
                yield words
                words = []
            else:
                words.append(word)
    except ValueError:  # quotes across lines, as around a program in another language
        return
    yield words


def check_fovea(page, words):
    """`fovea` and what follows it."""
    path, rest = (), words[1:]
    while rest and rest[0] in subcommands(path):
        path, rest = path + (rest[0],), rest[1:]
    if not path:
        if rest and re.fullmatch(r"[a-z]+", rest[0]):
            errors.append(f"{page}: fovea {rest[0]}: no such subcommand")
        return
    for word in rest:
        name = word.split("=")[0]
        if word == "--":
            return
        if re.fullmatch(r"--[a-z][a-z0-9-]*", name) and name not in options(path):
            errors.append(f"{page}: fovea {' '.join(path)} {name}: no such option")


def check_block(page, language, block):
    if language in ("sh", "bash"):
        for words in commands_in(block):
            for at, word in enumerate(words):
                if word == "fovea" or word.endswith("/fovea"):
                    check_fovea(page, words[at:])
                    break
                if re.fullmatch(r"(\./)?(script|bench)/[\w.-]+", word) and not (ROOT / word).exists():
                    errors.append(f"{page}: {word}: no such script")
    try:
        if language == "python":
            ast.parse(block)
        elif language == "json":
            json.loads(block)
        elif language == "toml" and tomllib:
            tomllib.loads(block)
    except (SyntaxError, ValueError) as error:
        errors.append(f"{page}: {language}: {error}")


def check_prose(page, text):
    for name in re.findall(r"`fovea ([a-z]+)[ `]", FENCE.sub("", text)):
        if name not in subcommands(()):
            errors.append(f"{page}: fovea {name}: no such subcommand")
    for name in re.findall(r"`(script/[\w-]+)", FENCE.sub("", text)):
        if not (ROOT / name).exists():
            errors.append(f"{page}: {name}: no such script")


def check_config():
    """Every field that a model's configuration declares is in the reference of config.json."""
    page = pathlib.Path("docs/reference/config.md")
    text = (ROOT / page).read_text(encoding="utf-8")
    declared = set()
    for header in (ROOT / "include/fovea/model").glob("*config.hpp"):
        declared |= set(re.findall(r'(?:visit\(|\.name = )"([a-z-]+)"', header.read_text(encoding="utf-8")))
    if len(declared) < 30:
        errors.append(f"{page}: only {len(declared)} fields were found in include/fovea/model")
    errors.extend(f"{page}: the field {name} is missing" for name in sorted(declared) if f"`{name}`" not in text)


def check_contents():
    """Every page is in the table of contents and in the site's navigation."""
    contents = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    navigation = (ROOT / "docs/site/mkdocs.yml").read_text(encoding="utf-8")
    for path in sorted(ROOT.glob("docs/*/*.md")):
        page = path.relative_to(ROOT).as_posix()
        if path.parent.name != "site" and (f"({page[5:]})" not in contents or f" {page}" not in navigation):
            errors.append(f"{page}: missing in docs/README.md or docs/site/mkdocs.yml")


def check_changelog():
    """Every release fits on a screen."""
    for release in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        name, lines = release.split("\n", 1)[0], release.count("\n")
        if lines > 60:
            errors.append(f"CHANGELOG.md: {name} has {lines} lines, more than 60")


def main():
    count = 0
    check_changelog()
    check_config()
    check_contents()
    for page in pages():
        text = (ROOT / page).read_text(encoding="utf-8")
        check_links(page, text)
        if page.name in HISTORY:
            continue
        for language, block in FENCE.findall(text):
            check_block(page, language, block)
            count += 1
        check_prose(page, text)
    if errors:
        sys.exit("\n".join(errors))
    print(f"{count} blocks")


if __name__ == "__main__":
    main()
