/* watch SOCKET COUNT CHANGES MONITOR CHANGE: COUNT connections that watch (they have sent MONITOR), and one that sends
 * CHANGE so many times, each when all have heard of the one before. Prints the milliseconds from a CHANGE until the
 * last has heard of it: the median and the worst of all changes; and until it was answered. */
#define _GNU_SOURCE
#include "wire.h"
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>

int main(int argc, char **argv) {
    if (argc != 6) return 64;
    size_t count = strtoul(argv[2], NULL, 10), changes = strtoul(argv[3], NULL, 10);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) { files.rlim_cur = files.rlim_max; setrlimit(RLIMIT_NOFILE, &files); }
    static char input[65536];
    int *fds = calloc(count, sizeof *fds), epoll = epoll_create1(EPOLL_CLOEXEC);
    size_t *heard = calloc(count, sizeof *heard);
    double *last = calloc(changes, sizeof *last), *answered = calloc(changes, sizeof *answered);
    for (size_t i = 0; i < count; i++) {
        fds[i] = dial(argv[1]);
        send_all(fds[i], argv[4], strlen(argv[4]) + 1);
        receive(fds[i], input, sizeof input);
        fcntl(fds[i], F_SETFL, O_NONBLOCK);
        struct epoll_event e = {.events = EPOLLIN, .data.u64 = i};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &e) != 0) die("epoll_ctl");
    }
    int changer = dial(argv[1]);
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = count};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, changer, &e) != 0) die("epoll_ctl");
    for (size_t c = 0; c < changes; c++) {
        double begun = now();
        send_all(changer, argv[5], strlen(argv[5]) + 1);
        for (size_t left = count, waits = 1; left > 0 || waits;) {
            struct epoll_event ready[256];
            int n = epoll_wait(epoll, ready, 256, 10000);
            if (n == 0) { errno = ETIMEDOUT; die("a watcher"); }
            for (int k = 0; k < n; k++) {
                size_t i = ready[k].data.u64;
                if (i == count) {
                    receive(changer, input, sizeof input);
                    answered[c] = (now() - begun) * 1e3;
                    waits = 0;
                    continue;
                }
                ssize_t got = read(fds[i], input, sizeof input);
                if (got <= 0) die("a watcher");
                for (ssize_t b = 0; b < got; b++) heard[i] += input[b] == 0;
                if (heard[i] == c + 1 && input[got - 1] == 0 && --left == 0) last[c] = (now() - begun) * 1e3;
            }
        }
    }
    double median = quantile(last, changes, 0.5), worst = quantile(last, changes, 1);
    printf("{\"median\": %f, \"worst\": %f, \"answered\": %f}\n", median, worst, quantile(answered, changes, 0.5));
    return 0;
}
