/* processes ROUNDS COMMAND… [vs COMMAND…]…: runs the commands in turn (A B A B …) ROUNDS times, output thrown away, and
 * prints one JSON array: each command's least, median and largest milliseconds from spawn to exit. A command may begin
 * with variables of its environment, NAME=VALUE. Each reads the file that PROCESSES_INPUT names, where there is such a
 * variable. */
#define _GNU_SOURCE
#include "wire.h"
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

enum { most_commands = 8, warm_up = 5 };
extern char **environ;

static double milliseconds(char **command) {
    for (; strchr(command[0], '='); command++) putenv(command[0]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    const char *input = getenv("PROCESSES_INPUT");
    if (input) posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0);
    pid_t pid;
    int status;
    double start = now();
    errno = posix_spawnp(&pid, command[0], &actions, NULL, command, environ);
    if (errno != 0 || waitpid(pid, &status, 0) != pid) die(command[0]);
    double end = now();
    posix_spawn_file_actions_destroy(&actions);
    if (status != 0) { fprintf(stderr, "bench: %s ended with status %d\n", command[0], status); exit(1); }
    return (end - start) * 1e3;
}

int main(int argc, char **argv) {
    if (argc < 3) return 64;
    size_t rounds = strtoul(argv[1], NULL, 10), count = 0;
    char **commands[most_commands];
    commands[count++] = argv + 2;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "vs") != 0) continue;
        argv[i] = NULL;
        if (i + 1 == argc || count == most_commands) return 64;
        commands[count++] = argv + i + 1;
    }
    double *times[most_commands];
    for (size_t c = 0; c < count; c++) times[c] = calloc(rounds, sizeof(double));
    for (size_t r = 0; r < rounds + warm_up; r++)
        for (size_t c = 0; c < count; c++) {
            double t = milliseconds(commands[c]);
            if (r >= warm_up) times[c][r - warm_up] = t;
        }
    for (size_t c = 0; c < count; c++)
        printf("%s{\"min\": %.4f, \"median\": %.4f, \"max\": %.4f}", c == 0 ? "[" : ", ",
               quantile(times[c], rounds, 0), quantile(times[c], rounds, 0.5), quantile(times[c], rounds, 1));
    puts("]");
}
