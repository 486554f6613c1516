#!/usr/bin/env python3
"""lint.py FILE…: what swift-format lets pass in Swift files: lines over 120 columns, comments of which a paragraph opens
with a bare clause ("What was done."), which says nothing of who does what, and calls that take a step for each byte of a
value. Exits with 1 where there are any."""

import os, re, sys

MOST = 120
CLAUSE = r"(Who|Whom|Whose|What|Whatever|Whoever|Which|Whichever|Where|Wherever|How|Whether|Why)\b"
# A comment on a line of its own, and one that stands behind code.
OPENING, TRAILING = re.compile(rf"\s*///? {CLAUSE}"), re.compile(rf"\s*\S.*\s// {CLAUSE}")
# A line of a comment goes on with the sentence of the line before, unless that is empty.
COMMENT, SENTENCE = re.compile(r"\s*//"), re.compile(r"\s*///? *[^ /]")
# It passes over an array of bytes byte by byte: 40 ms for a long secret. BusMessage.skip() does not.
SLOW = re.compile(r"\bsd_bus_message_skip\(")


def complaints(path):
    with open(path, encoding="utf-8") as file:
        before = ""
        for number, line in enumerate(file.read().split("\n"), 1):
            if len(line) > MOST:
                yield f"{path}:{number}: {len(line)} columns, of {MOST} at most"
            if OPENING.match(line) and not SENTENCE.match(before) or TRAILING.match(line):
                yield f"{path}:{number}: the comment opens with a bare clause: {line.strip()[:60]}"
            if SLOW.search(line) and not COMMENT.match(line):
                yield f"{path}:{number}: sd_bus_message_skip(3) takes a step for each byte"
            before = line


def files(paths):
    for path in paths:
        for folder, _, names in os.walk(path):
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".swift"))
        if os.path.isfile(path):
            yield path


found = [text for path in files(sys.argv[1:]) if not os.path.islink(path) for text in complaints(path)]
print("\n".join(found), end="\n" if found else "")
sys.exit(1 if found else 0)
