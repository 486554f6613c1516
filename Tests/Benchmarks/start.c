/* start ROUNDS UID SOCKET FRAME DAEMON…: starts DAEMON with `--ready-fd 3`, waits for its word, asks FRAME as UID, and takes
 * the time from spawn to the answer; then ends it with SIGTERM and starts the next. Prints one JSON object: least, median
 * and largest milliseconds. */
#define _GNU_SOURCE
#include "wire.h"
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/fsuid.h>
#include <sys/wait.h>

extern char **environ;

static double milliseconds(uid_t uid, const char *socket, const char *frame, char **command) {
    static char reply[65536];
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0) die("pipe");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ready[1], 3);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    pid_t pid;
    char byte;
    double start = now();
    errno = posix_spawn(&pid, command[0], &actions, NULL, command, environ);
    if (errno != 0) die(command[0]);
    close(ready[1]);
    while (read(ready[0], &byte, 1) < 0 && errno == EINTR) {}
    uid_t own = geteuid();
    if (uid != own && seteuid(uid) != 0) die("another uid");
    /* A service manager has the socket open to all: the file is reached as its owner. */
    setfsuid(own);
    int fd = dial(socket);
    if (uid != own && seteuid(own) != 0) die("the own uid");
    send_all(fd, frame, strlen(frame) + 1);
    receive(fd, reply, sizeof reply);
    double end = now();
    if (strncmp(reply, "{\"error\"", 8) == 0) { fprintf(stderr, "bench: refused: %s\n", reply); exit(1); }
    int status;
    kill(pid, SIGTERM);
    if (waitpid(pid, &status, 0) != pid || status != 0) { fprintf(stderr, "bench: status %d at the end\n", status); exit(1); }
    close(fd);
    close(ready[0]);
    posix_spawn_file_actions_destroy(&actions);
    return (end - start) * 1e3;
}

int main(int argc, char **argv) {
    if (argc < 6) return 64;
    size_t rounds = strtoul(argv[1], NULL, 10);
    double *times = calloc(rounds, sizeof *times);
    char *command[64] = {0};
    int count = argc - 5;
    if (count + 3 > 64) return 64;
    memcpy(command, argv + 5, count * sizeof *command);
    command[count++] = "--ready-fd";
    command[count] = "3";
    uid_t uid = strtoul(argv[2], NULL, 10);
    milliseconds(uid, argv[3], argv[4], command);  /* the first one fills the page cache */
    for (size_t r = 0; r < rounds; r++) times[r] = milliseconds(uid, argv[3], argv[4], command);
    printf("{\"min\": %.4f, \"median\": %.4f, \"max\": %.4f}\n", quantile(times, rounds, 0),
           quantile(times, rounds, 0.5), quantile(times, rounds, 1));
}
