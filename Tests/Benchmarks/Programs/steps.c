/* steps COMMAND…: runs a command by single steps and prints each address that it executes, once, in order, in
 * hexadecimal. Only addresses below 64 MiB, where a program that is not position-independent lies. */
#include "wire.h"
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

enum { limit = 64 << 20 };

int main(int argc, char **argv) {
    static char seen[limit];
    if (argc < 2) return 64;
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        /* Its output must not mix with that of this program. */
        if (!freopen("/dev/null", "w", stdout)) die("/dev/null");
        execv(argv[1], argv + 1);
        die(argv[1]);
    }
    for (int status; waitpid(pid, &status, 0) == pid && WIFSTOPPED(status);) {
        struct user_regs_struct registers;
        if (ptrace(PTRACE_GETREGS, pid, 0, &registers) != 0) die("ptrace");
        unsigned long long at = registers.rip;
        if (at < limit && !seen[at]) {
            seen[at] = 1;
            printf("%llx\n", at);
        }
        if (ptrace(PTRACE_SINGLESTEP, pid, 0, 0) != 0) die("ptrace");
    }
}
