/* echo SOCKET REPLY-BYTES: the yardstick. A single-threaded epoll server in bare C that answers every NUL-terminated
 * frame with one of REPLY-BYTES bytes: the two system calls and the wake-up that no server can avoid. */
#define _GNU_SOURCE
#include "wire.h"
#include <sys/epoll.h>

enum { events_at_once = 64, input_bytes = 65536 };

static void watch(int epoll, int fd) {
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) != 0) die("epoll_ctl");
}

int main(int argc, char **argv) {
    if (argc != 3) return 64;
    static char input[input_bytes];
    size_t size = strtoul(argv[2], NULL, 10);
    char *reply = malloc(size);
    memset(reply, 'x', size);
    reply[size - 1] = 0;

    struct sockaddr_un a = address(argv[1]);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(listener, 128) != 0) die(argv[1]);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    watch(epoll, listener);
    puts("ready");
    fflush(stdout);

    for (;;) {
        struct epoll_event ready[events_at_once];
        int count = epoll_wait(epoll, ready, events_at_once, -1);
        for (int i = 0; i < count; i++) {
            int fd = ready[i].data.fd;
            if (fd == listener) {
                int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                if (peer >= 0) watch(epoll, peer);
                continue;
            }
            ssize_t n = read(fd, input, sizeof input);
            if (n <= 0) { close(fd); continue; }
            for (char *p = input; (p = memchr(p, 0, input + n - p)) != NULL; p++) send_all(fd, reply, size);
        }
    }
}
