/* fair SOCKET REPLY-BYTES MICROSECONDS: the yardstick of fairness. A single-threaded epoll server in bare C that works
 * so long on every NUL-terminated frame before it answers with one of REPLY-BYTES bytes. The uids that ask have turns
 * of one request each, in a round, and within a uid its connections; it looks who has come before each. */
#define _GNU_SOURCE
#include "wire.h"
#include <sys/epoll.h>
#include <sys/resource.h>

enum { most_fds = 32768, most_users = 64, events_at_once = 1024 };
struct user {
    uid_t uid;
    int queue[most_fds];
    size_t first, count;
};
static struct user users[most_users];
static size_t user_count, waiting;
static struct user *owner[most_fds];
static size_t frames[most_fds]; /* that a connection has sent and that are not answered */
static char gone[most_fds], input[65536];

static struct user *user_of(int fd) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) die("SO_PEERCRED");
    for (size_t i = 0; i < user_count; i++) if (users[i].uid == peer.uid) return &users[i];
    if (user_count == most_users) { errno = EUSERS; die("users"); }
    users[user_count].uid = peer.uid;
    return &users[user_count++];
}

static void enqueue(int fd) {
    struct user *u = owner[fd];
    u->queue[(u->first + u->count++) % most_fds] = fd;
    waiting++;
}

static void work(double seconds) { for (double end = now() + seconds; now() < end;) {} }

int main(int argc, char **argv) {
    if (argc != 4) return 64;
    size_t size = strtoul(argv[2], NULL, 10), turn = 0;
    double cost = strtod(argv[3], NULL) / 1e6;
    char *reply = malloc(size);
    memset(reply, 'x', size);
    reply[size - 1] = 0;
    struct sockaddr_un a = address(argv[1]);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&a, sizeof a) != 0 || listen(listener, 128) != 0) die(argv[1]);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event e = {.events = EPOLLIN, .data.fd = listener};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &e) != 0) die("epoll_ctl");
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) { files.rlim_cur = files.rlim_max; setrlimit(RLIMIT_NOFILE, &files); }
    puts("ready");
    fflush(stdout);

    for (;;) {
        struct epoll_event ready[events_at_once];
        int n = epoll_wait(epoll, ready, events_at_once, waiting ? 0 : -1);
        for (int i = 0; i < n; i++) {
            int fd = ready[i].data.fd;
            if (fd == listener) {
                int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                if (peer < 0 && errno == ECONNABORTED) continue;
                if (peer < 0 || peer >= most_fds) die("accept");
                owner[peer] = user_of(peer), frames[peer] = 0, gone[peer] = 0;
                e = (struct epoll_event){.events = EPOLLIN, .data.fd = peer};
                if (epoll_ctl(epoll, EPOLL_CTL_ADD, peer, &e) != 0) die("epoll_ctl");
                continue;
            }
            ssize_t got = read(fd, input, sizeof input);
            if (got <= 0) {
                epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
                /* Else it still stands in a queue. */
                if (!(gone[fd] = frames[fd] > 0)) close(fd);
                continue;
            }
            size_t before = frames[fd];
            for (char *p = input; (p = memchr(p, 0, input + got - p)) != NULL; p++) frames[fd]++;
            if (before == 0 && frames[fd] > 0) enqueue(fd);
        }
        for (size_t k = 0; waiting && k < user_count; k++) {
            struct user *u = &users[turn++ % user_count];
            if (u->count == 0) continue;
            int fd = u->queue[u->first];
            u->first = (u->first + 1) % most_fds, u->count--, waiting--;
            work(cost);
            send(fd, reply, size, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (--frames[fd] > 0 && !gone[fd]) enqueue(fd);
            else if (gone[fd]) close(fd);
            break;
        }
    }
}
