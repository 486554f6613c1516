/* The common part of the measuring programs: a clock, a Unix socket, NUL-terminated frames. Any failure ends the
   program. */
#pragma once
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static inline _Noreturn void die(const char *what) {
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Monotonic seconds. */
static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static inline struct sockaddr_un address(const char *path) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof a.sun_path) { errno = ENAMETOOLONG; die(path); }
    strcpy(a.sun_path, path);
    return a;
}

static inline int dial(const char *path) {
    struct sockaddr_un a = address(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) != 0) die(path);
    return fd;
}

static inline void send_all(int fd, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t n = write(fd, bytes, count);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) die("write");
        bytes += n;
        count -= n;
    }
}

/* Reads one whole frame, its NUL included, and returns its size. One answer per question: nothing follows the NUL. */
static inline size_t receive(int fd, char *buffer, size_t capacity) {
    size_t have = 0;
    while (have == 0 || buffer[have - 1] != 0) {
        if (have == capacity) { errno = EMSGSIZE; die("reply"); }
        ssize_t n = read(fd, buffer + have, capacity - have);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = ECONNRESET;
        if (n <= 0) die("read");
        have += n;
    }
    return have;
}

static inline int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The `fraction` quantile of `count` values, which are sorted in place. */
static inline double quantile(double *values, size_t count, double fraction) {
    qsort(values, count, sizeof *values, ascending);
    return values[(size_t)(fraction * (count - 1) + 0.5)];
}
