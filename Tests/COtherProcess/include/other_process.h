#pragma once
/* The answers of the program other-process to a test. Nothing is included here: Swift would take what a system header
   declares for this module's. */

/* The error number of a request that failed, or 0; and the process that a fork made. */
struct other_process_answer {
    int error;
    int pid;
};

/* Receives an answer, and returns the descriptor that comes with it (SCM_RIGHTS, unix(7)), which the caller must close;
   or -1, with errno: the error of the other process, or ECHILD if that has ended. */
int other_process_receive(int fd, struct other_process_answer *answer);
