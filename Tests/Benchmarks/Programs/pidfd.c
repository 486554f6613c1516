/* To be loaded into a program under Valgrind 3.19, which knows no pidfd_open(2): a descriptor of any process, which
 * says that the process runs. */
#include <sys/types.h>
#include <unistd.h>

int pidfd_open(pid_t pid, unsigned int flags) {
    (void)pid, (void)flags;
    // Nothing is ever written to the pipe, whose other end stays open.
    int ends[2];
    return pipe(ends) == 0 ? ends[0] : -1;
}
