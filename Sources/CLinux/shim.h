#pragma once
/* Linux calls the Glibc module leaves out or hides behind _GNU_SOURCE. Declarations and one-line wrappers only. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/types.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/signalfd.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <signal.h>
#include <time.h>
#include <malloc.h>

#ifndef O_PATH
#define O_PATH 010000000
#endif

struct vault_peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};

/* struct ucred is visible under _GNU_SOURCE only; its layout is the kernel's and fixed. */
static inline int vault_peer_credentials(int fd, struct vault_peer *peer) {
    struct { pid_t pid; uid_t uid; gid_t gid; } cred;
    socklen_t n = sizeof cred;
    if (getsockopt(fd, SOL_SOCKET, 17 /* SO_PEERCRED */, &cred, &n) != 0) return -1;
    peer->pid = cred.pid;
    peer->uid = cred.uid;
    peer->gid = cred.gid;
    return 0;
}

/* Hidden behind _GNU_SOURCE, though glibc exports it always. */
int pipe2(int fds[2], int flags);

/* connect() and bind() by path. sockaddr_un is filled here because its path is an array. Fails with ENAMETOOLONG. */
static inline int vault_unix_address(struct sockaddr_un *address, const char *path) {
    size_t n = strlen(path);
    if (n >= sizeof address->sun_path) return -1;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, n);
    return 0;
}

static inline int vault_connect_unix(int fd, const char *path) {
    struct sockaddr_un address;
    if (vault_unix_address(&address, path) != 0) { errno = ENAMETOOLONG; return -1; }
    return connect(fd, (const struct sockaddr *)&address, sizeof address);
}

static inline int vault_bind_unix(int fd, const char *path) {
    struct sockaddr_un address;
    if (vault_unix_address(&address, path) != 0) { errno = ENAMETOOLONG; return -1; }
    return bind(fd, (const struct sockaddr *)&address, sizeof address);
}

static inline int vault_set_not_dumpable(void) { return prctl(4 /* PR_SET_DUMPABLE */, 0, 0, 0, 0); }

static inline int vault_timerfd(int clock) { return timerfd_create(clock, TFD_NONBLOCK | TFD_CLOEXEC); }
