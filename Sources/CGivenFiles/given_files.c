/* See given_files.h. This is C because only a function named `recvmsg` replaces the C library's, and Swift cannot
   define one. */
#define _GNU_SOURCE
#include "given_files.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

struct vault_given {
    struct vault_given *next;
    int socket;
    bool accepts;
    int count;
    /* The placeholder is -1 if none was made, or if its number was given out again. */
    struct { int placeholder, file; } files[VAULT_GIVEN_MOST + VAULT_GIVEN_AT_ONCE];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vault_given *registers;
/* An empty file in memory; the placeholders are duplicates of its descriptor. */
static int model = -1;

/* True if the descriptor is a placeholder, judged by the name that the kernel reports. Reading the link waits for no
   file system, whatever file has the number now. */
static bool is_placeholder(int descriptor) {
    static const char name[] = "/memfd:placeholder (deleted)";
    char path[64], target[sizeof name];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return readlink(path, target, sizeof target) == sizeof name - 1 && !memcmp(target, name, sizeof name - 1);
}

vault_given *vault_given_new(void) {
    struct vault_given *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->socket = -1;
    pthread_mutex_lock(&lock);
    if (model < 0) model = memfd_create("placeholder", MFD_CLOEXEC);
    made->next = registers;
    registers = made;
    pthread_mutex_unlock(&lock);
    return made;
}

void vault_given_watch(vault_given *given, int socket) {
    pthread_mutex_lock(&lock);
    given->socket = socket;
    pthread_mutex_unlock(&lock);
}

void vault_given_accept(vault_given *given, bool accepts) {
    pthread_mutex_lock(&lock);
    given->accepts = accepts;
    pthread_mutex_unlock(&lock);
}

static int take_at(struct vault_given *given, int place) {
    int file = given->files[place].file;
    given->files[place] = given->files[--given->count];
    return file;
}

int vault_given_take(int placeholder) {
    int file = -1;
    if (placeholder < 0) return -1;
    pthread_mutex_lock(&lock);
    for (struct vault_given *given = registers; given && file < 0; given = given->next)
        for (int place = 0; place < given->count && file < 0; place++)
            if (given->files[place].placeholder == placeholder) file = take_at(given, place);
    pthread_mutex_unlock(&lock);
    return file;
}

int vault_given_left(vault_given *given) {
    int file = -1;
    pthread_mutex_lock(&lock);
    for (int place = 0; place < given->count && file < 0; place++)
        if (!is_placeholder(given->files[place].placeholder)) file = take_at(given, place);
    pthread_mutex_unlock(&lock);
    return file;
}

void vault_given_free(vault_given *given) {
    pthread_mutex_lock(&lock);
    struct vault_given **link = &registers;
    while (*link != given) link = &(*link)->next;
    *link = given->next;
    pthread_mutex_unlock(&lock);
    free(given);
}

/* Exchanges the files of a message for placeholders. If the kernel cut the list of files, all of them are kept for
   vault_given_left(), and none is passed on. */
static void exchange(struct vault_given *given, struct msghdr *message, bool is_cut) {
    int first = given->count;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        int *files = (int *)(void *)CMSG_DATA(part);
        int count = (int)((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int i = 0; i < count; i++) {
            /* The number of an earlier placeholder, closed since, may be given out again. */
            int placeholder = is_cut ? -1 : fcntl(model, F_DUPFD_CLOEXEC, 3);
            /* Without room for all, sd-bus gets none. */
            if (placeholder < 0) is_cut = true;
            for (int place = 0; place < given->count; place++)
                if (placeholder >= 0 && given->files[place].placeholder == placeholder)
                    given->files[place].placeholder = -1;
            given->files[given->count].placeholder = placeholder;
            given->files[given->count++].file = files[i];
            files[i] = placeholder;
        }
    }
    if (!is_cut) return;
    message->msg_controllen = 0;
    for (int place = first; place < given->count; place++) {
        if (given->files[place].placeholder >= 0) close(given->files[place].placeholder);
        given->files[place].placeholder = -1;
    }
}

ssize_t recvmsg(int socket, struct msghdr *message, int flags) {
    pthread_mutex_lock(&lock);
    struct vault_given *given = registers;
    while (given && (socket < 0 || given->socket != socket)) given = given->next;
    if (given && (!given->accepts || given->count >= VAULT_GIVEN_MOST)) message->msg_controllen = 0;
    pthread_mutex_unlock(&lock);
    /* Only this thread reads the socket, and it also frees the register, so the register lives on. */
    ssize_t result = syscall(SYS_recvmsg, socket, message, flags);
    if (!given || result < 0) return result;
    int before = errno;
    /* sd-bus would take a message with too few files for the end of the connection. Without any, it drops the
       message. */
    bool is_cut = message->msg_flags & MSG_CTRUNC;
    message->msg_flags &= ~MSG_CTRUNC;
    pthread_mutex_lock(&lock);
    exchange(given, message, is_cut);
    pthread_mutex_unlock(&lock);
    errno = before;
    return result;
}
