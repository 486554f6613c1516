/* Prepares the process before any code of the program runs, including the start of the Swift runtime.
 *
 * A closed standard stream is opened. Otherwise the first socket or file would get the stream's number, and later be
 * taken for the stream. The stream is opened in the wrong direction, so that reads and writes fail as on a closed
 * stream, and close-on-exec, so that a child finds it closed.
 *
 * Without /proc the Swift runtime finds no arguments, and aborts in a statically linked program. This is C because no
 * Swift code runs before the runtime starts. */
#include "start.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

extern char *program_invocation_short_name;

enum { unreadable = 71 }; /* EX_OSERR, sysexits.h */

static void say(const char *text) {
    /* If the stream is closed, the text is lost, which is no failure. */
    ssize_t count = write(STDERR_FILENO, text, strlen(text));
    (void)count;
}

static void open_if_closed(int stream, const char *path, int mode) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) return;
    /* open(2) gives the lowest free number, which is the stream's, because the streams below it are open. */
    int found = open(path, mode | O_CLOEXEC | O_NOCTTY);
    if (found >= 0 && found != stream) close(found);
}

__attribute__((constructor(101))) static void start(void) {
    open_if_closed(STDIN_FILENO, "/dev/full", O_WRONLY);
    open_if_closed(STDOUT_FILENO, "/dev/null", O_RDONLY);
    open_if_closed(STDERR_FILENO, "/dev/null", O_RDONLY);
    int arguments = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (arguments >= 0) {
        close(arguments);
        return;
    }
    say(program_invocation_short_name);
    say(": cannot read the command line; mount /proc, or raise the limit of open files with `ulimit -n`\n");
    _exit(unreadable);
}
