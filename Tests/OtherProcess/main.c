/* Connects to sockets for a test, in a process of its own: `other-process UID GID`.

   The process becomes the given user, in that group alone. Descriptor 0 is a SOCK_SEQPACKET socket (unix(7)), each
   packet of which is a request:
     cPATH  connects to PATH, passes the connected socket back and closes its own copy;
     kPATH  does the same, but keeps its own copy for as long as the process lives;
     f      forks a process, in the same session, that serves a socket whose other end is passed back.
   The process ends once the other end of its socket is closed. */
#include "../COtherProcess/include/other_process.h"
#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int become(uid_t uid, gid_t gid) {
    if (uid == geteuid() && gid == getegid()) return 0;
    if (setgroups(0, NULL) != 0 || setgid(gid) != 0 || setuid(uid) != 0) return -1;
    /* As after a new program was started, a daemon of that user may read about the process in /proc. */
    return prctl(PR_SET_DUMPABLE, 1);
}

static int connected(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) == 0) return fd;
    int code = errno;
    close(fd);
    errno = code;
    return -1;
}

/* Returns the end of the new process's socket, or 0 in that process. */
static int forked(pid_t *pid) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return -1;
    *pid = fork();
    if (*pid == 0) {
        dup2(ends[1], 0);
        close(ends[0]);
    }
    close(ends[1]);
    return *pid == 0 ? 0 : ends[0];
}

static int answered(struct other_process_answer answer, int descriptor) {
    struct iovec part = { &answer, sizeof answer };
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } room = { 0 };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    if (descriptor >= 0) {
        message.msg_control = room.bytes;
        message.msg_controllen = sizeof room.bytes;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof descriptor);
        memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    }
    return sendmsg(0, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

int main(int argc, char **argv) {
    if (argc != 3 || become(strtoul(argv[1], NULL, 10), strtoul(argv[2], NULL, 10)) != 0) return 1;
    /* The kernel reaps the children. */
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        char request[256];
        ssize_t count = recv(0, request, sizeof request - 1, 0);
        if (count <= 0) return 0;
        request[count] = 0;
        struct other_process_answer answer = { 0 };
        int fd = request[0] == 'f' ? forked(&answer.pid) : connected(request + 1);
        if (fd == 0) continue;
        if (fd < 0) answer.error = errno;
        if (answered(answer, fd) != 0) return 1;
        if (fd > 0 && request[0] != 'k') close(fd);
    }
}
