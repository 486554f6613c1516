/* Tries calls in the sandbox of vault-import, in place of a parser that an attacker has taken over:
   `sandbox-proof CALL`. `sandbox-proof --list` prints the calls, and `sandbox-proof CALL outside` tries one without the
   sandbox.

   The kernel should end the process with SIGSYS. The exit codes are: 0 if the calls that are allowed worked, 1 if
   another call came back, whatever it returned, 2 if something allowed failed, 64 for an unknown call, and 71 without a
   sandbox. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sandbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Memory for arguments: zeros, so that a call that was allowed would do no harm. */
static long zeros[64];
static const char path[] = "/etc/passwd", memory[] = "/proc/self/mem";
static char text[] = "text";
static struct iovec part = { text, 4 };
static struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

#define TRY(name, ...) { #name, SYS_##name, { __VA_ARGS__ } }
#define AT(pointer) ((long)(pointer))

struct attempt { const char *name; long number; long arguments[6]; };

static const struct attempt attempts[] = {
    /* Files, by name. */
    TRY(openat, AT_FDCWD, AT(path), O_RDONLY), { "openat memory", SYS_openat, { AT_FDCWD, AT(memory), O_RDWR } },
    TRY(openat2, AT_FDCWD, AT(path), AT(zeros), 24), TRY(newfstatat, AT_FDCWD, AT(path), AT(zeros), 0),
    TRY(statx, AT_FDCWD, AT(path), 0, 0, AT(zeros)), TRY(readlinkat, AT_FDCWD, AT(path), AT(zeros), 8),
    TRY(faccessat, AT_FDCWD, AT(path), R_OK), TRY(unlinkat, AT_FDCWD, AT("/nonexistent/a"), 0),
    TRY(mkdirat, AT_FDCWD, AT("/nonexistent/a"), 0),
    TRY(renameat2, AT_FDCWD, AT("/nonexistent/a"), AT_FDCWD, AT(path), 1),
    TRY(chdir, AT("/")), TRY(chroot, AT("/")), TRY(mount, 0, AT("/nonexistent"), 0, 0, 0), TRY(getcwd, AT(zeros), 8),
    TRY(name_to_handle_at, AT_FDCWD, AT(path), AT(zeros), AT(zeros), 0), TRY(open_by_handle_at, 0, AT(zeros), 0),
    TRY(truncate, AT("/nonexistent/a"), 0), TRY(statfs, AT("/"), AT(zeros)), TRY(getxattr, AT(path), AT("a"), 0, 0),
    /* Descriptors: new ones, and those that the sandbox has closed. */
    TRY(dup, 0), TRY(fcntl, 0, F_DUPFD, 3), TRY(pipe2, AT(zeros), 0), TRY(memfd_create, AT("a"), 0),
    TRY(eventfd2, 0, 0), TRY(epoll_create1, 0), TRY(inotify_init1, 0), TRY(timerfd_create, CLOCK_MONOTONIC, 0),
    TRY(signalfd4, -1, AT(zeros), 8, 0), TRY(fanotify_init, 0, 0), TRY(userfaultfd, 0),
    TRY(io_uring_setup, 1, AT(zeros)),
    TRY(perf_event_open, AT(zeros), 0, -1, -1, 0), TRY(bpf, 0, AT(zeros), 8), TRY(pidfd_open, 1, 0),
    TRY(pidfd_getfd, 0, 0, 0), TRY(close, 0), TRY(ioctl, 0, 0x541B, AT(zeros)), TRY(fstat, 0, AT(zeros)),
    TRY(ftruncate, 0, 0), TRY(lseek, 0, 0, 0), TRY(getdents64, 0, AT(zeros), 8), TRY(close_range, 5, 6, 0),
    { "write 1", SYS_write, { 1, AT(text), 4 } }, { "write 2", SYS_write, { 2, AT(text), 4 } },
    { "read 3", SYS_read, { 3, AT(zeros), 4 } }, { "write high", SYS_write, { 1 | 1l << 32, AT(text), 4 } },
    TRY(writev, 0, AT(&part), 1), TRY(readv, 0, AT(&part), 1), TRY(pread64, 0, AT(zeros), 4, 0),
    TRY(pwrite64, 0, AT(text), 4, 0), TRY(sendfile, 0, 0, 0, 1), TRY(splice, 0, 0, 0, 0, 1, 0), TRY(tee, 0, 0, 1, 0),
    TRY(copy_file_range, 0, 0, 0, 0, 1, 0),
    /* The network, and descriptors over the socket. */
    TRY(socket, AF_INET, SOCK_STREAM, 0), { "socket unix", SYS_socket, { AF_UNIX, SOCK_DGRAM, 0 } },
    { "socket netlink", SYS_socket, { AF_NETLINK, SOCK_RAW, 0 } }, TRY(socketpair, AF_UNIX, SOCK_STREAM, 0, AT(zeros)),
    TRY(connect, 0, AT(zeros), 16), TRY(bind, 0, AT(zeros), 16), TRY(listen, 0, 1), TRY(accept4, 0, 0, 0, 0),
    TRY(sendmsg, 0, AT(&message), MSG_DONTWAIT), TRY(recvmsg, 0, AT(&message), MSG_DONTWAIT),
    TRY(sendto, 0, AT(text), 4, MSG_DONTWAIT, 0, 0), TRY(recvfrom, 0, AT(zeros), 4, MSG_DONTWAIT, 0, 0),
    TRY(setsockopt, 0, SOL_SOCKET, SO_PASSCRED, AT(zeros), 4), TRY(getsockopt, 0, SOL_SOCKET, 17, AT(zeros), AT(zeros)),
    TRY(shutdown, 0, SHUT_RD),
    /* Processes and threads, this one and others. */
    TRY(execve, AT("/bin/true"), 0, 0), TRY(execveat, 0, AT(""), 0, 0, AT_EMPTY_PATH), TRY(clone, SIGCHLD, 0, 0, 0, 0),
    { "clone thread", SYS_clone, { CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, 0 } },
    TRY(clone3, AT(zeros), 64), TRY(unshare, CLONE_NEWUSER), TRY(setns, 0, 0), TRY(kill, 0, 0),
    { "kill 1", SYS_kill, { 1, 0 } }, TRY(tgkill, 1, 1, 0), TRY(tkill, 1, 0), TRY(pidfd_send_signal, 0, 0, 0, 0),
    TRY(rt_sigqueueinfo, 1, 0, AT(zeros)), TRY(ptrace, 0, 0, 0, 0),
    TRY(process_vm_readv, 1, AT(&part), 1, AT(&part), 1, 0),
    TRY(process_vm_writev, 1, AT(&part), 1, AT(&part), 1, 0), TRY(kcmp, 1, 1, 0, 0, 0), TRY(wait4, -1, 0, 1, 0),
    TRY(setuid, 0), TRY(setgid, 0), TRY(setresuid, -1, -1, -1), TRY(setgroups, 0, 0), TRY(capset, AT(zeros), AT(zeros)),
    TRY(prctl, PR_SET_DUMPABLE, 1), TRY(prlimit64, 0, RLIMIT_NOFILE, 0, AT(zeros)), TRY(personality, 0xffffffff),
    TRY(setpriority, 0, 0, 0), TRY(sched_setscheduler, 0, 0, AT(zeros)), TRY(setsid), TRY(setpgid, 0, 0),
    TRY(rt_sigaction, SIGTERM, 0, 0, 8), TRY(rt_sigprocmask, 0, 0, 0, 8), TRY(seccomp, 0, 0, 0),
    TRY(getpid), TRY(getuid), TRY(nanosleep, AT(zeros), 0),
    /* Executable memory. */
    { "mmap executable", SYS_mmap, { 0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 } },
    { "mmap writable and executable", SYS_mmap,
      { 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 } },
    { "mprotect executable", SYS_mprotect, { 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC } },
    TRY(pkey_mprotect, 0, 4096, PROT_EXEC, -1), TRY(remap_file_pages, 0, 4096, 0, 0, 0), TRY(mlock, 0, 4096),
    TRY(madvise, 0, 4096, 0),
    /* The rest of the kernel. */
    TRY(shmget, 1, 4096, 0600), TRY(msgget, 1, 0600), TRY(semget, 1, 1, 0600), TRY(mq_open, AT("a"), O_RDONLY, 0, 0),
    TRY(keyctl, 1, 0, 0, 0, 0), TRY(add_key, AT("user"), AT("a"), AT("a"), 1, -2), TRY(request_key, 0, 0, 0, 0),
    TRY(io_setup, 1, AT(zeros)), TRY(syslog, 3, AT(zeros), 8), TRY(uname, AT(zeros)), TRY(sysinfo, AT(zeros)),
    TRY(reboot, 0, 0, 0, 0), TRY(init_module, 0, 0, 0), TRY(clock_settime, CLOCK_REALTIME, 0),
    TRY(landlock_create_ruleset, 0, 0, 1), TRY(membarrier, 0, 0, 0), TRY(rseq, 0, 0, 0, 0),
    { "no such call", 9999, { 0 } }, { "the largest number", -1, { 0 } },
#ifdef __x86_64__
    TRY(open, AT(path), O_RDONLY), TRY(creat, AT("/nonexistent/a"), 0), TRY(stat, AT(path), AT(zeros)), TRY(fork),
    TRY(vfork), TRY(arch_prctl, 0x1002, 0), TRY(dup2, 0, 5), TRY(pipe, AT(zeros)), TRY(modify_ldt, 0, 0, 0),
    /* The same calls by the numbers of x32: getpid, read and write. */
    { "x32 getpid", 0x40000000 | SYS_getpid, { 0 } }, { "x32 read", 0x40000000 | SYS_read, { 0, AT(zeros), 1 } },
    { "x32 write", 0x40000000 | SYS_write, { 1, AT(text), 4 } },
#endif
};

static int is_outside;

static void enter(void) {
    if (!is_outside && vault_enter_sandbox(0)) _exit(71);
}

static int try_call(const struct attempt *attempt) {
    const long *a = attempt->arguments;
    enter();
    syscall(attempt->number, a[0], a[1], a[2], a[3], a[4], a[5]);
    _exit(1);
}

#ifdef __x86_64__
/* The number 3 is read(2) for programs of 32 bits, and lseek(2) for others. A kernel that runs no such programs answers
   with SIGSEGV. */
static void try_other_architecture(void) {
    long result;
    enter();
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(3), "b"(0), "c"(0), "d"(0) : "memory");
    _exit(1);
}
#endif

/* A block that the compiler cannot leave out. */
static char *volatile block;

/* Takes all memory in blocks of a size, and gives nothing back. */
static void exhaust(size_t size) {
    while ((block = malloc(size))) memset(block, 1, 1);
    if (errno != ENOMEM) _exit(2);
}

/* Everything that the sandbox allows: the socket, memory, random numbers, the time, and an orderly end. */
static void work(void) {
    int ends[2];
    char byte = 0;
    struct timespec now;
    signal(SIGPIPE, SIG_IGN);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || write(ends[1], "x", 1) != 1 || dup2(ends[0], 0) != 0) _exit(71);
    enter();
    if (read(0, &byte, 1) != 1 || byte != 'x') _exit(2);
    if (write(0, &byte, 1) != -1 || errno != EPIPE) _exit(2);
    for (size_t size = 16; size < 1ul << 30; size *= 4) {
        if (!(block = malloc(size)) || !(block = realloc(block, 2 * size))) _exit(2);
        memset(block, 1, 2 * size);
        free(block);
    }
    if (getrandom(&byte, 1, 0) != 1 || syscall(SYS_clock_gettime, CLOCK_REALTIME, &now)) _exit(2);
    if (mprotect(mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096, PROT_NONE)) _exit(2);
    exit(0);
}

/* Opens a file under Landlock alone. Exits with 1 if that succeeds, and with 75 without Landlock. */
static void try_files(void) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) _exit(71);
    int result = vault_refuse_files();
    if (result) _exit(result == 1 ? 75 : 71);
    if (open(path, O_RDONLY) != -1 || errno != EACCES || open("/", O_RDONLY) != -1 || errno != EACCES) _exit(1);
    _exit(open("/tmp", O_TMPFILE | O_RDWR, 0600) == -1 && errno == EACCES ? 0 : 1);
}

int main(int count, char **arguments) {
    const char *name = count > 1 ? arguments[1] : "";
    is_outside = count > 2 && !strcmp(arguments[2], "outside");
    const size_t all = sizeof attempts / sizeof *attempts;
    if (!strcmp(name, "--list")) {
        for (size_t i = 0; i < all; i++) puts(attempts[i].name);
        return 0;
    }
    if (!strcmp(name, "work")) work();
    if (!strcmp(name, "files")) try_files();
    if (!strcmp(name, "exhaust large")) { enter(); exhaust(64 << 20); exit(0); }
    if (!strcmp(name, "exhaust small")) { enter(); exhaust(64 << 20); exhaust(1 << 16); exhaust(100); exit(0); }
#ifdef __x86_64__
    if (!strcmp(name, "other architecture")) try_other_architecture();
#endif
    for (size_t i = 0; i < all; i++) if (!strcmp(name, attempts[i].name)) return try_call(&attempts[i]);
    return 64;
}
