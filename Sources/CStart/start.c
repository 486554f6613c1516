/* Prepares a process for a program of ours before any of it runs, the Swift runtime's own start included.
 *
 * A standard stream that is closed is opened, or the first socket or file would get its number, and be taken for the
 * stream later. It is opened the wrong way round, so that reading and writing fail as they do on a closed one, and
 * close-on-exec, so that a child finds it closed.
 *
 * Without /proc the runtime finds no arguments, and aborts in a program that is linked statically. In C because nothing
 * of Swift's runs earlier than that. */
#include "start.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

extern char *program_invocation_short_name;

enum { unreadable = 71 }; /* EX_OSERR, sysexits.h */

static void say(const char *text) {
    /* A closed stream hears nothing of it, which is no failure. */
    ssize_t count = write(STDERR_FILENO, text, strlen(text));
    (void)count;
}

static void open_if_closed(int stream, const char *path, int mode) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) return;
    /* The lowest number that is free: the streams below are open. */
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
