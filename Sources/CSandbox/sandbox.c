/* See sandbox.h. This is C because the filter of calls is a program of the kernel's own, which is written with macros,
 * and because syscall(2) takes a variable number of arguments. */
#define _GNU_SOURCE
#include "sandbox.h"
#include <errno.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the number of this processor's calls is not known"
#endif
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the lower half of an argument comes first");

/* linux/landlock.h, of which Debian 12 has an old version: all rights of a kernel's version are refused. */
struct landlock_rights { uint64_t files, network, scopes; };
enum { LANDLOCK_VERSION_FLAG = 1 };

static struct landlock_rights rights(long version) {
    /* The number of rights to files, by version. Later versions have at least those of the last one here. */
    static const int files[] = { 13, 14, 15, 15, 16 };
    const long known = sizeof files / sizeof *files;
    struct landlock_rights all = { .files = (1ull << files[(version < known ? version : known) - 1]) - 1 };
    if (version >= 4) all.network = 3;  /* to bind and to connect TCP sockets */
    if (version >= 6) all.scopes = 3;   /* abstract sockets, and signals to others */
    return all;
}

int vault_refuse_files(void) {
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION_FLAG);
    if (version <= 0) return 1;
    struct landlock_rights none = rights(version);
    /* A kernel takes a longer structure than its own if the rest is zero. */
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &none, sizeof none, 0);
    if (ruleset < 0) return -1;
    int result = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
    int code = errno;
    close(ruleset);
    errno = code;
    return result;
}

static int limit(int resource, rlim_t soft, rlim_t hard) {
    return setrlimit(resource, &(struct rlimit){ soft, hard });
}

static int limit_all(uint64_t more) {
    /* Someone who has set a lower limit gets a lower one. */
    struct rlimit memory, time;
    if (getrlimit(RLIMIT_AS, &memory) != 0 || getrlimit(RLIMIT_CPU, &time) != 0) return -1;
    rlim_t wanted = VAULT_SANDBOX_MEMORY + more;
    rlim_t most = memory.rlim_max < wanted ? memory.rlim_max : wanted;
    /* The kernel would send SIGKILL, and not SIGXCPU, at the hard limit. */
    rlim_t last = time.rlim_max < VAULT_SANDBOX_SECONDS + 5 ? time.rlim_max : VAULT_SANDBOX_SECONDS + 5;
    rlim_t seconds = last < VAULT_SANDBOX_SECONDS ? last : VAULT_SANDBOX_SECONDS;
    return limit(RLIMIT_AS, most, most) || limit(RLIMIT_CPU, seconds, last) || limit(RLIMIT_FSIZE, 0, 0) ||
           limit(RLIMIT_NPROC, 0, 0) || limit(RLIMIT_NOFILE, 0, 0) ? -1 : 0;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
/* Goes on behind so many instructions if the loaded number is another one. */
#define UNLESS(number, skipped) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, skipped)
/* Allows a call; otherwise goes on with the next line. */
#define CALL(name) UNLESS(SYS_##name, 1), ALLOW
/* The same, if its first argument is descriptor 0. The kernel takes the lower half of the argument alone. */
#define CALL_ON_0(name) UNLESS(SYS_##name, 4), LOAD(args[0]), UNLESS(0, 1), ALLOW, KILL
/* The same, if its third argument asks for no executable memory. */
#define CALL_NOT_EXECUTABLE(name) \
    UNLESS(SYS_##name, 4), LOAD(args[2]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0), ALLOW, KILL

/* Each number is compared as a whole, so a call by its number for x32, which has another bit, is not allowed. */
static struct sock_filter filter[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
    KILL,
    LOAD(nr),
    CALL_ON_0(read),
    CALL_ON_0(write),
    /* malloc(3). The fourth comes when memory is short, and the fifth when a large block grows. */
    CALL(brk),
    CALL_NOT_EXECUTABLE(mmap),
    CALL(munmap),
    CALL_NOT_EXECUTABLE(mprotect),
    CALL(mremap),
    /* pthread_once(3), with which Swift makes its constants. */
    CALL(futex),
    /* The seeds of hash tables, Swift's and expat's. */
    CALL(getrandom),
    /* Not every machine can tell the time without a call. */
    CALL(clock_gettime),
    CALL(exit_group),
    KILL,
};

/* Installs the filter for all threads there are, if a library has started one. */
static int filter_calls(void) {
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    long other = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
    if (other > 0) errno = EBUSY; /* a thread with a filter of its own */
    return other == 0 ? 0 : -1;
}

const char *vault_enter_sandbox(uint64_t memory) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "no_new_privs";
    if (vault_refuse_files() < 0) return "Landlock";
    if (close_range(1, UINT_MAX, 0) != 0) return "close_range";
    if (limit_all(memory) != 0) return "setrlimit";
    if (filter_calls() != 0) return "seccomp";
    return NULL;
}

#else

int vault_refuse_files(void) { return 1; }
const char *vault_enter_sandbox(uint64_t memory) { (void)memory; return NULL; }

#endif
