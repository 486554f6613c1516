#pragma once
/* Linux calls that the Glibc module leaves out, or that glibc hides behind _GNU_SOURCE: declarations and short
   wrappers. */
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
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <grp.h>
#include <sched.h>
#include <sys/personality.h>
#include <poll.h>
#include <pwd.h>
#include <stdlib.h>
#include <termios.h>
#include <signal.h>
#include <spawn.h>
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

/* Returns a nonblocking socket connected to a service manager's notification socket (sd_notify(3)). A path that begins
   with @ names an abstract socket. */
static inline int vault_connect_notifications(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t n = strlen(path);
    if (n == 0 || n >= sizeof address.sun_path) { errno = EINVAL; return -1; }
    memcpy(address.sun_path, path, n);
    if (path[0] == '@') address.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t length = offsetof(struct sockaddr_un, sun_path) + n + (path[0] != '@');
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, length) != 0) {
        int code = errno;
        close(fd);
        errno = code;
        return -1;
    }
    return fd;
}

/* Sends a text with a descriptor (SCM_RIGHTS), or fails at once. */
static inline int vault_send_descriptor(int fd, const char *text, int descriptor) {
    struct iovec part = { (void *)text, strlen(text) };
    union { struct cmsghdr header; char room[CMSG_SPACE(sizeof(int))]; } control = { 0 };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room
    };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -1 : 0;
}

/* PIDFD_GET_INFO (linux/pidfd.h, from Linux 6.13 on): returns the number of a process's cgroup (version 2), which no
   later cgroup gets. Returns 0 if the kernel does not report it, or if the process has ended. */
static inline uint64_t vault_cgroup(int pidfd) {
    struct { uint64_t mask, cgroup; uint32_t rest[12]; } info = { .mask = 1 << 2 /* PIDFD_INFO_CGROUPID */ };
    if (ioctl(pidfd, _IOWR(0xff, 11, info), &info) != 0 || !(info.mask & 1 << 2)) return 0;
    return info.cgroup;
}

/* Hidden behind _GNU_SOURCE, though glibc exports them always. */
int pipe2(int fds[2], int flags);
int accept4(int socket, struct sockaddr *address, socklen_t *size, int flags);
ssize_t splice(int from, off_t *from_place, int to, off_t *to_place, size_t size, unsigned int flags);

/* Also hidden. The first makes the child close every descriptor from the number `from` on. */
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);

/* connect() and bind() by path. sockaddr_un is filled here because Swift sees the array for its path as a tuple. A path
   that is too long is ENAMETOOLONG. */
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

/* Like signal(3), but a system call that the handler interrupts fails with EINTR and is not restarted. */
static inline void vault_interrupting_signal(int number, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(number, &action, NULL);
}

/* Makes the kernel end this process when its parent ends. */
static inline int vault_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }

/* Locks the memory of a process with one thread into RAM: all of the memory or, if RLIMIT_MEMLOCK is too low for that,
   the heap and the stack. First the heap grows by `room` bytes. The heap never shrinks, and allocations of less than
   `room` bytes lie in the heap. Returns 1 if the heap is locked. */
static inline int vault_lock_memory(size_t room) {
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_MMAP_THRESHOLD, (int)room);
    void *more = malloc(room - 1);
    if (!more) return 0;
    free(more);
    if (mlockall(MCL_CURRENT) == 0) return 1;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps) return 0;
    char line[512];
    int is_locked = 0;
    while (fgets(line, sizeof line, maps)) {
        unsigned long start, end;
        int is_heap = strstr(line, "[heap]") != NULL;
        if (!is_heap && !strstr(line, "[stack]")) continue;
        if (sscanf(line, "%lx-%lx", &start, &end) != 2) continue;
        if (mlock((void *)start, end - start) == 0 && is_heap) is_locked = 1;
    }
    fclose(maps);
    return is_locked;
}

static inline int vault_set_not_dumpable(void) { return prctl(4 /* PR_SET_DUMPABLE */, 0, 0, 0, 0); }

/* Returns 1 if execve() can gain no more privileges, not even with set-user-ID and set-group-ID programs. */
static inline int vault_no_new_privileges(void) { return prctl(39 /* PR_GET_NO_NEW_PRIVS */, 0, 0, 0, 0); }

/* Hidden behind _GNU_SOURCE, though glibc exports it since 2.34. */
int close_range(unsigned int first, unsigned int last, int flags);

/* The event of poll(2) for a peer that has closed its socket, or will write no more. Only SPARC has another number. */
#define VAULT_POLLRDHUP 0x2000

static inline int vault_timerfd(int clock) { return timerfd_create(clock, TFD_NONBLOCK | TFD_CLOEXEC); }

/* Like fork(), but the child's end sends no SIGCHLD, and only a wait with __WCLONE reports it, so a program that
   watches its own children does not notice the child. None of glibc's preparations for fork() run, so the child must
   not allocate memory. */
static inline pid_t vault_clone(void) { return (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0); }
static inline pid_t vault_wait_clone(pid_t pid) { return waitpid(pid, NULL, (int)0x80000000 /* __WCLONE */); }

#ifdef SYS_setresuid32
#define VAULT_SYS(call) SYS_##call##32
#else
#define VAULT_SYS(call) SYS_##call
#endif

/* The calls with which the child of vault_clone() changes its user and groups. glibc's own functions would signal
   threads that the child does not have. */
static inline int vault_set_groups(int count, const gid_t *groups) {
    return (int)syscall(VAULT_SYS(setgroups), count, groups);
}
static inline int vault_set_gids(gid_t gid) { return (int)syscall(VAULT_SYS(setresgid), gid, gid, gid); }
static inline int vault_set_uids(uid_t uid) { return (int)syscall(VAULT_SYS(setresuid), uid, uid, uid); }

/* Hidden behind _GNU_SOURCE. */
int getresuid(uid_t *real, uid_t *effective, uid_t *saved);
int getresgid(gid_t *real, gid_t *effective, gid_t *saved);

/* open() and fcntl(F_DUPFD) take a variable number of arguments, which Swift without its overlay cannot pass. */
static inline int vault_open(const char *path, int flags) { return open(path, flags); }
static inline int vault_dup_above(int fd, int least) { return fcntl(fd, F_DUPFD_CLOEXEC, least); }

/* The parts of a device's number, which are macros. */
static inline uint32_t vault_major(dev_t device) { return major(device); }
static inline uint32_t vault_minor(dev_t device) { return minor(device); }

/* Hidden behind _GNU_SOURCE. */
int dup3(int from, int to, int flags);

/* memfd_create(2): a file that exists only in memory, until its last descriptor is closed. */
static inline int vault_memory_file(void) { return (int)syscall(SYS_memfd_create, "vault", 1 /* MFD_CLOEXEC */); }

/* The macro errno, for code without the Glibc module's overlay. */
static inline int vault_errno(void) { return errno; }

/* The type of `resource` depends on _GNU_SOURCE. */
static inline int vault_get_limit(int resource, struct rlimit *limit) { return getrlimit(resource, limit); }
static inline int vault_set_limit(int resource, const struct rlimit *limit) { return setrlimit(resource, limit); }

/* prlimit(2), hidden behind _GNU_SOURCE. */
static inline int vault_set_limit_of(pid_t pid, int resource, const struct rlimit *limit) {
    return (int)syscall(SYS_prlimit64, pid, resource, limit, NULL);
}

/* These give the process the default scheduling. */
static inline int vault_reset_niceness(void) { return setpriority(PRIO_PROCESS, 0, 0); }
static inline int vault_reset_scheduling(void) {
    return sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
}
static inline int vault_reset_io_priority(void) { return (int)syscall(SYS_ioprio_set, 1 /* a process */, 0, 0); }

/* Undoes what setarch(1) does, such as addresses that are always the same. */
static inline int vault_reset_personality(void) { return personality(PER_LINUX); }
/* Returns the personality. The number 0xffffffff is no personality; it makes the call change nothing. */
static inline int vault_personality(void) { return personality(0xffffffff); }
static inline int vault_set_personality(int personas) { return personality((unsigned long)personas); }

/* keyctl(KEYCTL_JOIN_SESSION_KEYRING): gives the process a session keyring without the keys of its earlier one. */
static inline int vault_new_session_keyring(void) { return (int)syscall(SYS_keyctl, 1, NULL); }

/* Makes execvp(3), posix_spawnp(3) and getenv(3) use another environment, and returns the earlier one. */
static inline char **vault_set_environment(char **next) {
    extern char **environ;
    char **before = environ;
    environ = next;
    return before;
}

struct vault_capability_header { uint32_t version; int pid; };
struct vault_capability_data { uint32_t effective, permitted, inheritable; };

/* capset(2): gives up all capabilities, including those that securebits may have kept over a change of the user. */
static inline int vault_drop_capabilities(void) {
    struct vault_capability_header header = { 0x20080522 /* _LINUX_CAPABILITY_VERSION_3 */, 0 };
    struct vault_capability_data none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
    return (int)syscall(SYS_capset, &header, none);
}

/* capget(2): returns 0 if the process has no capability of any kind, 1 if it has one, and -1 if the call fails. */
static inline int vault_capabilities(void) {
    struct vault_capability_header header = { 0x20080522, 0 };
    struct vault_capability_data data[2];
    if (syscall(SYS_capget, &header, data) != 0) return -1;
    uint32_t all = 0;
    for (int i = 0; i < 2; i++) all |= data[i].effective | data[i].permitted | data[i].inheritable;
    return all != 0;
}

/* memmem(3), hidden behind _GNU_SOURCE: returns the first place of `form` in `text`, or NULL. */
static inline const void *vault_find_bytes(const void *text, size_t count, const void *form, size_t length) {
    extern void *memmem(const void *, size_t, const void *, size_t);
    return memmem(text, count, form, length);
}

/* renameat2(2) within one folder, hidden behind _GNU_SOURCE: the first exchanges the files of two names, and the second
   renames a file only if the new name is free. */
static inline int vault_exchange(int folder, const char *one, const char *other) {
    return (int)syscall(SYS_renameat2, folder, one, folder, other, 2u /* RENAME_EXCHANGE */);
}
static inline int vault_rename_new(int folder, const char *from, const char *to) {
    return (int)syscall(SYS_renameat2, folder, from, folder, to, 1u /* RENAME_NOREPLACE */);
}

/* Returns 1 if a program has the file open for writing, 0 if none has, and -1 if the kernel does not tell, as for
   another user's file. The kernel grants no read lease (fcntl(2)) on a file that is open for writing. On a file system
   without leases, a file counts as one without writers. The lease is released at once; a program that breaks the lease
   before then causes SIGURG, which is ignored by default. */
static inline int vault_has_writer(int fd) {
    if (fcntl(fd, 10 /* F_SETSIG */, SIGURG) != 0) return -1;
    if (fcntl(fd, 1024 /* F_SETLEASE */, F_RDLCK) != 0)
        return errno == EAGAIN ? 1 : errno == EINVAL || errno == EOPNOTSUPP ? 0 : -1;
    fcntl(fd, 1024, F_UNLCK);
    return 0;
}
