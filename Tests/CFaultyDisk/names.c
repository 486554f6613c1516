/* Takes the place of the C library's functions in the program of the tests, for its own code and for the libraries it
   loads. */
#include "faulty_disk_names.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static _Thread_local void (*told)(void *context, int fd);
static _Thread_local void *context;

void faulty_disk_tell(void (*tell)(void *context, int fd), void *new_context) {
    told = tell;
    context = new_context;
}

/* The function that is told may do the same calls itself, and is not told of them. */
static int done(long result, int fd) {
    void (*tell)(void *, int) = told;
    if (result == 0 && tell) {
        told = NULL;
        tell(context, fd);
        told = tell;
    }
    return (int)result;
}

int fsync(int fd) { return done(syscall(SYS_fsync, fd), fd); }
int fdatasync(int fd) { return done(syscall(SYS_fdatasync, fd), fd); }
int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags) {
    return done(syscall(SYS_linkat, from_fd, from, to_fd, to, flags), -1);
}
int renameat(int from_fd, const char *from, int to_fd, const char *to) {
    return done(syscall(SYS_renameat2, from_fd, from, to_fd, to, 0), -1);
}
int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }
int unlinkat(int fd, const char *name, int flags) { return done(syscall(SYS_unlinkat, fd, name, flags), -1); }
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int mkdirat(int fd, const char *name, mode_t mode) { return done(syscall(SYS_mkdirat, fd, name, mode), -1); }
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }
