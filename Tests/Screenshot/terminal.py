"""A terminal of its own for a shell, and the lines that have come to stand on it."""

import fcntl, os, pty, re, select, signal, struct, termios, time

PATIENCE = 30
# A green sign, and commands in bold. The shell ends the bold when a command begins, and itself when one has failed.
PROMPT = "\x1b[32m$\x1b[0m \x1b[1m"
SHELL = {"TERM": "xterm-256color", "PS1": PROMPT, "PS0": "\x1b[0m", "PROMPT_COMMAND": "(( $? == 0 )) || exit"}
CLEARED = re.compile(r"\x1b\[(?:3J|H|2J)")
TOKEN = re.compile(r"\x1b\[([0-9;]*)m|(\r*\n)|([^\x00-\x1f\x7f]+)")
ATTRIBUTES = {1: "bold", 31: "red", 32: "green", 33: "yellow"}


class Terminal:
    """A shell without settings of its own, on a new terminal."""

    def __init__(self, environment, columns):
        # All that came, where the last typed line began to be answered, and the beginning of a character.
        self.output, self.begun, self.undecoded = "", 0, b""
        self.process, self.descriptor = pty.fork()
        if self.process == 0:
            os.chdir(environment["HOME"])
            os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"], environment | SHELL)
        fcntl.ioctl(self.descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
        self.await_state(self.is_ready)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.descriptor)
        # The hang-up has ended it, unless it stands still.
        try:
            os.kill(self.process, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.process, 0)

    def run(self, command, answers):
        """Types the command and an answer for each of its hidden questions, and waits until the shell is back."""
        self.type(command)
        for answer in answers:
            self.await_state(self.hides)
            self.type(answer)
        self.await_state(self.is_ready)

    def type(self, line):
        self.begun = len(self.output)
        os.write(self.descriptor, line.encode() + b"\n")

    def is_ready(self):
        return self.output.endswith(PROMPT) and len(self.output) > self.begun

    def hides(self):
        """Decides whether a question stands there whose answer does not show."""
        shows = termios.tcgetattr(self.descriptor)[3] & termios.ECHO
        return not shows and self.output[self.begun:].endswith(": ")

    def await_state(self, holds):
        deadline = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > deadline:
                raise TimeoutError("the session stands still after: " + repr(self.output[-400:]))
            if select.select([self.descriptor], [], [], 0.1)[0]:
                try:
                    self.undecoded += os.read(self.descriptor, 65536)
                except OSError as error:
                    raise RuntimeError("a command failed: " + repr(self.output[-400:])) from error
                whole = self.undecoded.decode(errors="ignore")
                self.output += whole
                self.undecoded = self.undecoded[len(whole.encode()):]

    def lines(self):
        """The lines since the screen was last cleared, without the last prompt: lists of texts with their styles.

        Raises a ValueError for anything else that a program has sent, such as a motion of the cursor."""
        text = CLEARED.split(self.output)[-1].removesuffix(PROMPT)
        lines, style, place = [[]], frozenset(), 0
        while place < len(text):
            token = TOKEN.match(text, place)
            if not token:
                raise ValueError("no picture is made of " + repr(text[place:place + 20]))
            place = token.end()
            codes, end, words = token.groups()
            if words:
                lines[-1].append((words, style))
            elif end:
                lines.append([])
            else:
                for code in map(int, codes.split(";") if codes else ["0"]):
                    style = style | {ATTRIBUTES[code]} if code else frozenset()
        return lines[:-1] if not lines[-1] else lines
