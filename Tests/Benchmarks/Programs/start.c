/* start ROUNDS UID SOCKET FRAME HOW DAEMON…: starts DAEMON, asks FRAME as UID, and takes the time to the answer; then
 * ends it with SIGTERM and starts the next. Prints one JSON object: least, median and largest milliseconds.
 *   ready    from its start with `--ready-fd 3`, and asks when it says that it is ready
 *   socket   from the first byte at the socket, which starts it as a socket unit does (sd_listen_fds(3)) */
#define _GNU_SOURCE
#include "wire.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *path, *frame;
static uid_t asker;

/* The daemon has `ours` as its descriptor 3. */
static pid_t spawn(char **command, int ours, int listens) {
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid > 0) return pid;
    if (listens) {
        char own[16];
        snprintf(own, sizeof own, "%d", getpid());
        setenv("LISTEN_PID", own, 1);
        setenv("LISTEN_FDS", "1", 1);
    }
    int none = open("/dev/null", O_WRONLY);
    if (none < 0 || dup2(none, 2) < 0 || dup2(ours, 3) < 0) _exit(1);
    execvp(command[0], command);
    _exit(1);
}

static int ask(void) {
    uid_t own = geteuid();
    if (asker != own && seteuid(asker) != 0) die("another uid");
    /* A service manager has the socket open to all: the file is reached as its owner. */
    setfsuid(own);
    int fd = dial(path);
    if (asker != own && seteuid(own) != 0) die("the own uid");
    send_all(fd, frame, strlen(frame) + 1);
    return fd;
}

/* A pipe or a socket whose number is none that a daemon gets. */
static int above(int fd) {
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 16);
    if (high < 0) die("fcntl");
    close(fd);
    return high;
}

static double milliseconds(int listens, char **command) {
    static char reply[65536];
    int fd, given, ready = -1;
    pid_t pid;
    double start;
    if (listens) {
        struct sockaddr_un a = address(path);
        unlink(path);
        given = above(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (bind(given, (struct sockaddr *)&a, sizeof a) != 0 || listen(given, 128) != 0) die(path);
        start = now();
        fd = above(ask());
        pid = spawn(command, given, 1);
    } else {
        int ends[2];
        char byte;
        if (pipe2(ends, O_CLOEXEC) != 0) die("pipe");
        ready = above(ends[0]), given = above(ends[1]);
        start = now();
        pid = spawn(command, given, 0);
        close(given);
        given = -1;
        while (read(ready, &byte, 1) < 0 && errno == EINTR) {}
        fd = ask();
    }
    receive(fd, reply, sizeof reply);
    double end = now();
    if (strncmp(reply, "{\"error\"", 8) == 0) { fprintf(stderr, "bench: refused: %s\n", reply); exit(1); }
    int status;
    kill(pid, SIGTERM);
    if (waitpid(pid, &status, 0) != pid || status != 0) {
        fprintf(stderr, "bench: status %d at the end\n", status);
        exit(1);
    }
    close(fd);
    close(listens ? given : ready);
    return (end - start) * 1e3;
}

int main(int argc, char **argv) {
    if (argc < 7) return 64;
    size_t rounds = strtoul(argv[1], NULL, 10);
    double *times = calloc(rounds, sizeof *times);
    asker = strtoul(argv[2], NULL, 10), path = argv[3], frame = argv[4];
    int listens = strcmp(argv[5], "socket") == 0;
    char *command[64] = {0};
    int count = argc - 6;
    if (count + 3 > 64) return 64;
    memcpy(command, argv + 6, count * sizeof *command);
    if (!listens) {
        command[count++] = "--ready-fd";
        command[count] = "3";
    }
    milliseconds(listens, command); /* the first one fills the page cache */
    for (size_t r = 0; r < rounds; r++) times[r] = milliseconds(listens, command);
    printf("{\"min\": %.4f, \"median\": %.4f, \"max\": %.4f}\n", quantile(times, rounds, 0),
           quantile(times, rounds, 0.5), quantile(times, rounds, 1));
}
