#include "other_process.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

int other_process_receive(int fd, struct other_process_answer *answer) {
    struct iovec part = { answer, sizeof *answer };
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } room = { 0 };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = room.bytes, .msg_controllen = sizeof room.bytes,
    };
    ssize_t count;
    do count = recvmsg(fd, &message, 0x40000000 /* MSG_CMSG_CLOEXEC */); while (count < 0 && errno == EINTR);
    if (count < 0) return -1;
    errno = count == sizeof *answer ? answer->error : ECHILD;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (errno != 0 || header == NULL || header->cmsg_type != SCM_RIGHTS) return -1;
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
}
