/* pace SOCKET UID PER-SECOND SECONDS FRAME: asks so often on one connection, each question at its time, and never two
 * at once; without pause where PER-SECOND is 0. Prints one JSON object: how many were asked and answered, answers per
 * second, and the median, 99th percentile and longest time from a question to its answer in microseconds. */
#define _GNU_SOURCE
#include "wire.h"
#include <grp.h>

enum { samples_kept = 1 << 22 };
static double samples[samples_kept];
static char buffer[65536];

int main(int argc, char **argv) {
    if (argc != 6) return 64;
    uid_t uid = strtoul(argv[2], NULL, 10);
    double rate = strtod(argv[3], NULL), seconds = strtod(argv[4], NULL);
    const char *frame = argv[5];
    size_t size = strlen(frame) + 1, taken = 0, asked = 0;
    if (uid != geteuid() && (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0))
        die("another uid");
    int fd = dial(argv[1]);
    double start = now(), due = start, at = start;
    while (at - start < seconds) {
        if (rate > 0) {
            struct timespec until = {.tv_sec = due, .tv_nsec = (due - (time_t)due) * 1e9};
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
            due += 1 / rate;
        }
        double began = now();
        asked++;
        send_all(fd, frame, size);
        receive(fd, buffer, sizeof buffer);
        at = now();
        if (strncmp(buffer, "{\"error\"", 8) == 0) { fprintf(stderr, "bench: refused: %s\n", buffer); exit(1); }
        if (taken < samples_kept) samples[taken++] = (at - began) * 1e6;
    }
    printf("{\"asked\": %zu, \"answered\": %zu, \"rate\": %.1f, \"p50_us\": %.1f, \"p99_us\": %.1f, "
           "\"worst_us\": %.1f}\n",
           asked, taken, taken / (at - start), quantile(samples, taken, 0.5), quantile(samples, taken, 0.99),
           quantile(samples, taken, 1));
}
