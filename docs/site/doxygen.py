#!/usr/bin/python3
"""Shows Doxygen a public header with its plain comments as documentation: docs/site/doxygen.py FILE, to standard output.

The comment at the top describes the file, one on lines of its own the declaration below it, one behind a declaration
that declaration, each of its names if there are several. Copying, moving and destroying, which are as in every class,
are left out. Lines keep their numbers.
"""
import re
import sys

LEFT_OUT = re.compile(
    r"= (delete|default);$"
    r"|^ *(virtual )?~\w+\(\)( override)?;"
    r"|^ *\w+& operator=\(.*\)( noexcept)?;$"
    r"|^ *(?P<name>\w+)\((const )?(?P=name)&&?( \w+)?\)( noexcept)?;$")
MEMBERS = re.compile(r"^( *)((?:(?:static|inline|constexpr|const|mutable) )*[\w:]+(?:<.*>)?[&*]? )(\w+[^;()]*);$")


def split(names):
    """"a{1, 2}, b" as ["a{1, 2}", "b"]."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(names):
        depth += (c in "{[(<") - (c in "}])>")
        if c == "," and depth == 0:
            parts.append(names[start:i].strip())
            start = i + 1
    return parts + [names[start:].strip()]


def escaped(text):
    return re.sub(r"<(/?\w+)>", r"\\<\1\\>", text)


def documented(code, text):
    """A line of code with a comment behind it."""
    if code.startswith("[[nodiscard]] inline") and code.endswith("{"):
        return f"/** {text} */ {code}"
    member = MEMBERS.match(code)
    if member and len(names := split(member[3])) > 1:
        return member[1] + " ".join(f"{member[2]}{name}; /**< {text} */" for name in names)
    return f"{code}  ///< {text}"


path = sys.argv[1]
with open(path, encoding="utf-8") as file:
    lines = file.read().split("\n")
top, column = True, 0  # column: of the comment behind the line before
for number, line in enumerate(lines):
    top = top and line.startswith("// ")
    own = re.match(r"( *)//(/?)( .*|)$", line)
    behind = re.match(r"(.*[^ ].*?)  +// (.*)$", line)
    if number == 0 and top:
        print("/// @file " + path.split("include/")[-1] + " @brief" + escaped(line[2:]))
    elif own and (line.startswith("// ---") or "NOLINT" in line):
        print()
    elif own and column == len(own[1]) and column > 0 and not own[2]:
        print(f"{own[1]}///<{escaped(own[3])}")
        continue
    elif own:
        print(own[1] + "///" + (own[3] if own[3].startswith("     ") else escaped(own[3])))
    elif behind and not line.startswith(("#", "}")) and "NOLINT" not in behind[2]:
        print(documented(behind[1], escaped(behind[2])))
    elif LEFT_OUT.search(line):
        print()
    else:
        print(line)
    column = line.index("// ") if behind else 0
