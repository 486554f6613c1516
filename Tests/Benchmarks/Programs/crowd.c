/* crowd SOCKET UID ROLE COUNT FRAME: COUNT connections of UID that cost a server as much as their role can, until the
 * standard input ends. Prints `ready` when all are there, and at the end how many were closed by the server.
 *   hold     each has asked FRAME once, and stays
 *   ask      each sends FRAME again as soon as it is answered
 *   flood    each sends FRAME without pause, and reads what comes
 *   unread   the same, and reads nothing
 *   trickle  each sends a byte of FRAME a second
 *   vanish   each sends FRAME and is gone; then the next COUNT */
#define _GNU_SOURCE
#include "wire.h"
#include <fcntl.h>
#include <signal.h>
#include <grp.h>
#include <sys/epoll.h>
#include <sys/resource.h>

enum { flood_frames = 64, input_bytes = 65536 };
static char input[input_bytes];
static const char *path, *frame;
static size_t frame_bytes, count, closed;

/* A connection, made again when the server had no room for it in its queue. */
static int join(void) {
    struct sockaddr_un a = address(path);
    for (;;) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0) die("socket");
        if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0) return fd;
        if (errno != EAGAIN && errno != EINTR) die(path);
        close(fd);
    }
}

static int input_has_ended(int seconds) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(0, &set);
    struct timeval time = {.tv_sec = seconds};
    return select(1, &set, NULL, NULL, &time) > 0;
}

static void vanish(void) {
    puts("ready");
    do {
        int fds[1024];
        for (size_t i = 0; i < count && i < 1024; i++) {
            fds[i] = join();
            if (write(fds[i], frame, frame_bytes) < 0 && errno != EPIPE && errno != ECONNRESET) die("write");
        }
        for (size_t i = 0; i < count && i < 1024; i++) close(fds[i]);
    } while (!input_has_ended(0));
}

static void trickle(int *fds) {
    for (size_t at = 0; !input_has_ended(1); at = (at + 1) % frame_bytes)
        for (size_t i = 0; i < count; i++)
            if (fds[i] >= 0 && write(fds[i], frame + at, 1) < 0) { close(fds[i]); fds[i] = -1; closed++; }
}

/* Sends and reads what the sockets take and have. */
static void exchange(int *fds, const char *role) {
    int floods = strcmp(role, "ask") != 0, reads = strcmp(role, "unread") != 0;
    size_t size = floods ? flood_frames * frame_bytes : frame_bytes, sent[count];
    memset(sent, 0, sizeof sent);
    char *frames = malloc(size);
    for (size_t i = 0; i < size; i += frame_bytes) memcpy(frames + i, frame, frame_bytes);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event end = {.events = EPOLLIN, .data.u64 = count};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &end) != 0) die("epoll_ctl");
    for (size_t i = 0; i < count; i++) {
        fcntl(fds[i], F_SETFL, O_NONBLOCK);
        struct epoll_event e = {.events = (reads ? EPOLLIN : 0) | (floods ? EPOLLOUT : 0), .data.u64 = i};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &e) != 0) die("epoll_ctl");
        if (!floods) send_all(fds[i], frame, frame_bytes);
    }
    for (;;) {
        struct epoll_event ready[256];
        int n = epoll_wait(epoll, ready, 256, -1);
        for (int k = 0; k < n; k++) {
            size_t i = ready[k].data.u64;
            if (i == count) return;
            ssize_t got = 1;
            if (reads && ready[k].events & EPOLLIN) {
                got = read(fds[i], input, sizeof input);
                if (got > 0 && !floods && strncmp(input, "{\"error\"", 8) == 0) {
                    fprintf(stderr, "bench: refused: %s\n", input);
                    exit(1);
                }
                if (got > 0 && !floods && input[got - 1] == 0) send_all(fds[i], frame, frame_bytes);
            }
            if (floods && ready[k].events & EPOLLOUT) {
                ssize_t put = send(fds[i], frames + sent[i], size - sent[i], MSG_NOSIGNAL);
                if (put > 0) sent[i] = (sent[i] + put) % size;
            }
            if (got == 0 || ready[k].events & (EPOLLHUP | EPOLLERR)) {
                close(fds[i]);
                closed++;
                fds[i] = join();
                fcntl(fds[i], F_SETFL, O_NONBLOCK);
                sent[i] = 0;
                struct epoll_event e = {.events = (reads ? EPOLLIN : 0) | (floods ? EPOLLOUT : 0), .data.u64 = i};
                if (epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &e) != 0) die("epoll_ctl");
                if (!floods) send_all(fds[i], frame, frame_bytes);
            }
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 6) return 64;
    uid_t uid = strtoul(argv[2], NULL, 10);
    path = argv[1], frame = argv[5], frame_bytes = strlen(frame) + 1, count = strtoul(argv[4], NULL, 10);
    const char *role = argv[3];
    setvbuf(stdout, NULL, _IONBF, 0);
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) { files.rlim_cur = files.rlim_max; setrlimit(RLIMIT_NOFILE, &files); }
    if (uid != geteuid() && (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 || setresuid(uid, uid, uid) != 0))
        die("another uid");
    if (strcmp(role, "vanish") == 0) { vanish(); return 0; }

    int *fds = calloc(count, sizeof *fds);
    for (size_t i = 0; i < count; i++) {
        fds[i] = join();
        if (strcmp(role, "hold") == 0) {
            send_all(fds[i], frame, frame_bytes);
            receive(fds[i], input, sizeof input);
        }
    }
    puts("ready");
    if (strcmp(role, "hold") == 0) {
        while (!input_has_ended(60)) {}
        /* Closed by the server, they have something to read: their end. */
        for (size_t i = 0; i < count; i++) closed += recv(fds[i], input, 1, MSG_DONTWAIT) == 0;
    } else if (strcmp(role, "trickle") == 0) {
        signal(SIGPIPE, SIG_IGN);
        trickle(fds);
    } else {
        exchange(fds, role);
    }
    printf("%zu\n", closed);
}
