/* load SOCKET CONNECTIONS SECONDS FRAME [LIMIT…]: sends FRAME on each connection, waits for the answer, sends again:
 * never two questions in flight on one connection. Each run of # in FRAME becomes another random number of so many
 * digits every time, below its LIMIT. Prints one JSON object: answers per second in all, by the median connection and
 * by the worst, and the median and 99th percentile round trip in microseconds. */
#define _GNU_SOURCE
#include "wire.h"
#include <sys/epoll.h>

enum { buffer_bytes = 65536, samples_kept = 1 << 20 };
static char buffer[buffer_bytes];
static double samples[samples_kept];
static size_t taken, reply_bytes;
static char *frame;
static size_t frame_bytes;
static char *numbers[4]; /* in the frame */
static unsigned long limits[4];
static size_t digits[4], number_count;

struct client {
    int fd;
    size_t answers;
    double asked;
};

static void find_numbers(char **given, size_t count) {
    for (char *at = strchr(frame, '#'); at != NULL; at = strchr(at, '#')) {
        if (number_count == count || number_count == 4) exit(64);
        numbers[number_count] = at;
        limits[number_count] = strtoul(given[number_count], NULL, 10);
        at += digits[number_count++] = strspn(at, "#");
    }
}

static void draw_numbers(void) {
    for (size_t i = 0; i < number_count; i++) {
        unsigned long number = random() % limits[i];
        for (size_t d = digits[i]; d-- > 0; number /= 10) numbers[i][d] = '0' + number % 10;
    }
}

static void ask(struct client *c) {
    draw_numbers();
    c->asked = now();
    send_all(c->fd, frame, frame_bytes);
}

static void answered(struct client *c, size_t size, double at) {
    if (strncmp(buffer, "{\"error\"", 8) == 0) { fprintf(stderr, "bench: refused: %s\n", buffer); exit(1); }
    if (reply_bytes == 0) reply_bytes = size;
    if (size != reply_bytes) { fprintf(stderr, "bench: a reply of %zu bytes, not %zu\n", size, reply_bytes); exit(1); }
    if (taken < samples_kept) samples[taken++] = (at - c->asked) * 1e6;
    c->answers++;
}

int main(int argc, char **argv) {
    if (argc < 5) return 64;
    size_t count = strtoul(argv[2], NULL, 10);
    double seconds = strtod(argv[3], NULL);
    frame = argv[4];
    frame_bytes = strlen(frame) + 1;
    find_numbers(argv + 5, argc - 5);

    struct client *clients = calloc(count, sizeof *clients);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < count; i++) {
        clients[i].fd = dial(argv[1]);
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &clients[i]};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, clients[i].fd, &e) != 0) die("epoll_ctl");
    }

    double start = now(), at = start;
    if (count == 1) {  /* one blocking call each way, as a plain client would */
        for (; at - start < seconds; answered(clients, receive(clients->fd, buffer, buffer_bytes), at = now()))
            ask(clients);
    } else {
        for (size_t i = 0; i < count; i++) ask(&clients[i]);
        while (at - start < seconds) {
            struct epoll_event ready[64];
            int n = epoll_wait(epoll, ready, 64, 1000);
            if (n <= 0) { errno = ETIMEDOUT; die("no answer for a second"); }
            for (int i = 0; i < n; i++) {
                struct client *c = ready[i].data.ptr;
                size_t size = receive(c->fd, buffer, buffer_bytes);
                answered(c, size, at = now());
                ask(c);
            }
        }
    }

    double elapsed = at - start, total = 0, *rates = calloc(count, sizeof *rates);
    for (size_t i = 0; i < count; i++) total += rates[i] = clients[i].answers / elapsed;
    double worst = quantile(rates, count, 0), median = quantile(rates, count, 0.5);
    printf("{\"total\": %.1f, \"median\": %.1f, \"worst\": %.1f, \"p50_us\": %.1f, \"p99_us\": %.1f, "
           "\"request_bytes\": %zu, \"reply_bytes\": %zu}\n",
           total, median, worst, quantile(samples, taken, 0.5), quantile(samples, taken, 0.99), frame_bytes,
           reply_bytes);
}
