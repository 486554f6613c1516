/* agent SOCKET CONNECTIONS SECONDS list|sign: asks an ssh-agent on each connection, waits for the answer, asks again:
 * never two requests in flight on one connection. `sign` is for an SSHSIG message, by the first key that the agent
 * lists. Prints one JSON object: answers per second in all, and the size of one. */
#define _GNU_SOURCE
#include "wire.h"
#include <arpa/inet.h>
#include <stdint.h>
#include <sys/epoll.h>

enum { buffer_bytes = 256 << 10, listing = 11, identities = 12, signing = 13, signature = 14 };
static unsigned char buffer[buffer_bytes], request[buffer_bytes];
static size_t request_bytes;

static uint32_t number(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return ntohl(value);
}

static void add(const void *bytes, size_t count) {
    memcpy(request + request_bytes, bytes, count);
    request_bytes += count;
}

static void add_number(uint32_t value) {
    value = htonl(value);
    add(&value, sizeof value);
}

static void add_string(const void *bytes, size_t count) {
    add_number(count);
    add(bytes, count);
}

/* Reads one whole answer and returns the size of what is behind its length. */
static size_t answer(int fd, int type) {
    size_t have = 0;
    while (have < 5 || have < 4 + (size_t)number(buffer)) {
        if (have == buffer_bytes) { errno = EMSGSIZE; die("answer"); }
        ssize_t n = read(fd, buffer + have, buffer_bytes - have);
        if (n == 0) errno = ECONNRESET;
        if (n <= 0) die("read");
        have += n;
    }
    if (buffer[4] != type) { fprintf(stderr, "bench: the agent answers %d, not %d\n", buffer[4], type); exit(1); }
    return have - 4;
}

static void make_request(const char *path, const char *what) {
    unsigned char type = listing;
    add_string(&type, 1);
    if (strcmp(what, "list") == 0) return;
    int fd = dial(path);
    send_all(fd, (char *)request, request_bytes);
    answer(fd, identities);
    close(fd);
    if (number(buffer + 5) == 0) { fprintf(stderr, "bench: the agent has no key\n"); exit(1); }
    uint32_t key_bytes = number(buffer + 9);

    unsigned char message[256], hash[64] = {1};
    size_t message_bytes = request_bytes = 0;
    add("SSHSIG", 6);
    add_string("file", 4);
    add_string("", 0);
    add_string("sha512", 6);
    add_string(hash, sizeof hash);
    memcpy(message, request, message_bytes = request_bytes);

    request_bytes = 0;
    type = signing;
    add_number(1 + 4 + key_bytes + 4 + message_bytes + 4);
    add(&type, 1);
    add_string(buffer + 13, key_bytes);
    add_string(message, message_bytes);
    add_number(0);
}

int main(int argc, char **argv) {
    if (argc != 5) return 64;
    size_t count = strtoul(argv[2], NULL, 10), answers = 0, bytes = 0;
    double seconds = strtod(argv[3], NULL);
    make_request(argv[1], argv[4]);
    int type = strcmp(argv[4], "list") == 0 ? identities : signature;

    int *clients = calloc(count, sizeof *clients), epoll = epoll_create1(EPOLL_CLOEXEC);
    for (size_t i = 0; i < count; i++) {
        clients[i] = dial(argv[1]);
        struct epoll_event e = {.events = EPOLLIN, .data.fd = clients[i]};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, clients[i], &e) != 0) die("epoll_ctl");
    }
    double start = now(), at = start;
    for (size_t i = 0; i < count; i++) send_all(clients[i], (char *)request, request_bytes);
    while (at - start < seconds) {
        struct epoll_event ready[64];
        int n = epoll_wait(epoll, ready, 64, 1000);
        if (n <= 0) { errno = ETIMEDOUT; die("no answer for a second"); }
        for (int i = 0; i < n; i++) {
            bytes = answer(ready[i].data.fd, type);
            answers++;
            at = now();
            send_all(ready[i].data.fd, (char *)request, request_bytes);
        }
    }
    printf("{\"total\": %.1f, \"reply_bytes\": %zu}\n", answers / (at - start), bytes);
}
