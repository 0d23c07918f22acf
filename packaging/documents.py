#!/usr/bin/env python3
"""documents.py BINARY FOLDER VERSION: man pages and completions of the command line, made from its own help texts.

Leaves FOLDER/man/fovea.1.gz, FOLDER/man/fovea-NAME.1.gz, FOLDER/fovea.bash and FOLDER/_fovea (zsh).
"""
import gzip
import pathlib
import re
import subprocess
import sys
from dataclasses import dataclass, field

INDENT = " " * 30  # where the help's second column begins


@dataclass
class Entry:
    """An option or a subcommand, as a line of the help shows it."""

    term: str  # "--metric bleu|chrf ..." or "bench"
    text: str

    @property
    def names(self):
        return self.term.split()[0].split(",")

    @property
    def takes_value(self):
        return len(self.term.split()) > 1

    @property
    def choices(self):
        found = re.search(r" (\S+\|\S+)", self.term)
        return found[1].split("|") if found else []


@dataclass
class Command:
    words: list  # ["fovea", "bench", "gemm"]
    about: str = ""
    usage: str = ""
    groups: dict = field(default_factory=dict)  # heading to entries
    commands: list = field(default_factory=list)

    @property
    def options(self):
        return [entry for entries in self.groups.values() for entry in entries]


def read_command(binary, words):
    """What `fovea … --help` says, or --help-all where there is more, with the subcommands below it."""
    def help_of(option):
        return subprocess.run([binary, *words[1:], option], check=True, capture_output=True, text=True).stdout

    text = help_of("--help")
    if "--help-all" in text:
        text = help_of("--help-all")
    command = Command(words)
    heading, subcommands = None, []
    entries = []
    for line in text.splitlines():
        if line.startswith("Usage: "):
            command.usage = line.removeprefix("Usage: ")
        elif not line.strip():
            continue
        elif not line.startswith(" "):
            if line.endswith(":"):
                heading = line[:-1]
            else:
                command.about += (" " if command.about else "") + line
        elif not line.startswith(INDENT):
            entries = subcommands if heading == "Subcommands" else command.groups.setdefault(heading, [])
            if line[len(INDENT) - 1 :].startswith(" ") or len(line) <= len(INDENT):
                entries.append(Entry(line[: len(INDENT)].strip(), line[len(INDENT) :].strip()))
            else:  # the term is longer than its column: its text stands below it
                entries.append(Entry(line.strip(), ""))
        else:  # the text goes on
            entries[-1].text = f"{entries[-1].text} {line.strip()}".strip()
    if not command.usage:
        sys.exit(f"{' '.join(words)} --help shows no usage")
    for entry in subcommands:
        below = read_command(binary, [*words, entry.term])
        below.about = entry.text or below.about
        command.commands.append(below)
    return command


def roff(text):
    """Text that groff shows as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def option_section(command, title):
    lines = []
    for heading, entries in command.groups.items():
        lines.append(f'.{title} "{roff(heading)}"')
        for entry in entries:
            first, *rest = entry.term.split(" ", 1)
            names = ", ".join(f"\\fB{roff(name)}\\fR" for name in first.split(","))
            lines += [".TP", f"{names} {roff(' '.join(rest))}".rstrip(), roff(entry.text) or "\\&"]
    return lines


def man_page(command, version):
    name = "-".join(command.words)
    lines = [f'.TH {name.upper()} 1 "" "Fovea {version}" "User Commands"',
             ".SH NAME", f"{name} \\- {roff(command.about.rstrip('.'))}",
             ".SH SYNOPSIS", f".B {roff(command.usage)}"]
    lines += option_section(command, "SH" if not command.commands else "SS")
    for below in command.commands:
        if len(command.words) == 1:
            continue
        lines += [f'.SH "{roff(" ".join(below.words))}"', roff(below.about), *option_section(below, "SS")]
    if len(command.words) == 1:
        lines.append(".SH SUBCOMMANDS")
        for below in command.commands:
            lines += [".TP", f"\\fBfovea\\-{below.words[-1]}\\fR(1)", roff(below.about)]
        lines += [".SH ENVIRONMENT", ".TP", ".B FOVEA_KERNELS", "generic, avx2 or avx512: the kernels to use, "
                  "instead of the best that this CPU has", ".SH EXIT STATUS",
                  "0: done. 1: it failed. 2: it was called in a wrong way. "
                  "What was wrong is one line on standard error."]
    others = ["fovea"] if len(command.words) > 1 else [f"fovea\\-{c.words[-1]}" for c in command.commands]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{other}\\fR(1)" for other in others)]
    return "\n".join(lines) + "\n"


def every(command):
    yield command
    for below in command.commands:
        yield from every(below)


def bash_completion(top):
    """Options and subcommands by what was typed so far; the values of options with choices; files elsewhere."""
    lines = ["# bash completion of fovea", "_fovea() {",
             '  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=fovea word words=""',
             '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do', '    case "$command $word" in']
    paths = [" ".join(command.words) for command in every(top) if len(command.words) > 1]
    lines.append(f"      {' | '.join(repr(path) for path in paths)}) command=\"$command $word\" ;;")
    lines += ["    esac", "  done", '  case "$command $prev" in']
    for command in every(top):
        for option in command.options:
            for name in option.names:
                path = f"'{' '.join(command.words)} {name}'"
                if option.choices:
                    lines.append(f"    {path}) COMPREPLY=($(compgen -W '{' '.join(option.choices)}' -- \"$cur\")); return ;;")
                elif option.takes_value:
                    lines.append(f"    {path}) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;")
    lines += ["  esac", '  case "$command" in']
    for command in every(top):
        words = [name for option in command.options for name in option.names]
        words += [below.words[-1] for below in command.commands]
        lines.append(f"    '{' '.join(command.words)}') words='{' '.join(words)}' ;;")
    lines += ["  esac", '  COMPREPLY=($(compgen -W "$words" -- "$cur"))', "}",
              "complete -o filenames -F _fovea fovea"]
    return "\n".join(lines) + "\n"


def zsh_text(text):
    for old, new in (("\\", "\\\\"), ("'", "'\\''"), ("[", "\\["), ("]", "\\]"), (":", "\\:")):
        text = text.replace(old, new)
    return text


def zsh_completion(top):
    lines = ["#compdef fovea", "# zsh completion of fovea", ""]
    for command in every(top):
        lines.append(f"{'_' + '_'.join(command.words)}() {{")
        specs = []
        for option in command.options:
            for name in option.names:
                spec = f"'{name}[{zsh_text(option.text)}]"
                if option.choices:
                    spec += f":value:({' '.join(option.choices)})"
                elif option.takes_value:
                    spec += ":value:_files"
                specs.append(spec + "'")
        if not command.commands:
            lines += ["  _arguments \\", *[f"    {spec} \\" for spec in specs], "    '*:file:_files'", "}", ""]
            continue
        lines += ["  local state", "  local -a commands=("]
        lines += [f"    '{below.words[-1]}:{zsh_text(below.about)}'" for below in command.commands]
        lines += ["  )", "  _arguments -C \\", *[f"    {spec} \\" for spec in specs],
                  "    '1:command:->command' '*::argument:->argument'", "  case $state in",
                  "    command) _describe command commands ;;",
                  f"    argument) (( $+functions[{'_' + '_'.join(command.words)}_$words[1]] )) && "
                  f"{'_' + '_'.join(command.words)}_$words[1] ;;",
                  "  esac", "}", ""]
    lines.append('_fovea "$@"')
    return "\n".join(lines) + "\n"


def main():
    binary, folder, version = sys.argv[1:]
    folder = pathlib.Path(folder)
    (folder / "man").mkdir(parents=True, exist_ok=True)
    top = read_command(binary, ["fovea"])
    for command in [top, *top.commands]:
        page = man_page(command, version).encode()
        (folder / "man" / f"{'-'.join(command.words)}.1.gz").write_bytes(gzip.compress(page, mtime=0))
    (folder / "fovea.bash").write_text(bash_completion(top))
    (folder / "_fovea").write_text(zsh_completion(top))


if __name__ == "__main__":
    main()
