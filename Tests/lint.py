#!/usr/bin/env python3
"""lint.py FILE…: what no compiler says of the files that people write, also within folders: lines over 120 columns,
comments of which a paragraph opens with a bare clause ("What was done."), which says nothing of who does what, and, in
Swift, calls that take a step for each byte of a value, and stat(2) without CLinux. Exits with 1 if there are any."""

import os, re, sys

MOST = 120
# Texts that programs wrote or read, and Markdown, where a row of a table is one line.
GIVEN = re.compile(r"/(Corpus|Files|Vectors|Upgrades/[^/]*)/|\.(txt|svg|order|md)$")
CLAUSE = r"(?:Who|Whom|Whose|What|Whatever|Whoever|Which|Whichever|Where|Wherever|How|Whether|Why)\b"
# A line of a comment, with its mark, and a comment that stands behind code.
OPENING = re.compile(rf'\s*(///?|/\*\*?|#:?|"""|\*)?\s?{CLAUSE}')
TRAILING = re.compile(rf"\s*\S.*\s(//|/\*|#) {CLAUSE}")
COMMENT, SENTENCE = re.compile(r"\s*//"), re.compile(r"\s*(//+|#+:?) *[^ /#!]")
# It passes over an array of bytes byte by byte: 40 ms for a long secret. BusMessage.skip() does not.
SLOW = re.compile(r"\bsd_bus_message_skip\(")
# Glibc and CLinux both have <sys/stat.h>, and for the compiler its fields belong to the one that it reads first, which
# depends on the order of the files. A file that imports Glibc alone does not always build.
STATUS = re.compile(r"^(?! *//).*(\bstat\(\)|\.st_[a-z]+\b|\b(?:fstat|lstat|fstatat)\()", re.MULTILINE)
CLINUX = re.compile(r"^(?:\w+ )?import CLinux$", re.MULTILINE)


def opens(path, line, before):
    """Tells that a paragraph of a comment begins in the line, and begins with a clause."""
    opening = OPENING.match(line)
    if not opening:
        return TRAILING.match(line)
    if opening[1] in (None, "*"):
        # Swift's comments have a mark in each line; its other texts are for people who use the program.
        return not path.endswith(".swift") and not before.strip(" *")
    return opening[1] in ("/*", "/**", '"""') or not SENTENCE.match(before)


def complaints(path):
    with open(path, encoding="utf-8") as file:
        before, text = "", file.read()
        if path.endswith(".swift") and STATUS.search(text) and not CLINUX.search(text):
            yield f"{path}: stat(2) needs an import of CLinux"
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > MOST:
                yield f"{path}:{number}: {len(line)} columns, of {MOST} at most"
            if opens(path, line, before):
                yield f"{path}:{number}: the comment opens with a bare clause: {line.strip()[:60]}"
            if path.endswith(".swift") and SLOW.search(line) and not COMMENT.match(line):
                yield f"{path}:{number}: sd_bus_message_skip(3) takes a step for each byte"
            before = line


def files(paths):
    for path in paths:
        for folder, _, names in os.walk(path):
            yield from (os.path.join(folder, name) for name in sorted(names))
        if os.path.isfile(path):
            yield path


written = (path for path in files(sys.argv[1:]) if not GIVEN.search(path) and not os.path.islink(path))
found = [text for path in written for text in complaints(path)]
print("\n".join(found), end="\n" if found else "")
sys.exit(1 if found else 0)
