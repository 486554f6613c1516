#pragma once
#include <stdbool.h>

/* Files that other programs pass over a socket, kept apart from the library that reads it.
 *
 * To close a file, or to ask about it, may take for ever: close(2) of a file on FUSE waits until the program that
 * serves the file system answers. sd-bus closes each file that came with a message, on the thread that dispatches it.
 * So recvmsg(2) is this target's own: on a socket that is registered here, each file is exchanged for a placeholder,
 * which can be closed at once. All functions but recvmsg and vault_given_take must be called on the thread that reads
 * the socket. */
typedef struct vault_given vault_given;

/* The most files that wait, and the most that come with one message more: as many as Linux passes at once
 * (SCM_MAX_FD). */
enum { VAULT_GIVEN_MOST = 64, VAULT_GIVEN_AT_ONCE = 253 };

/* Returns a register, or NULL without memory. */
vault_given *vault_given_new(void);

/* The files that come over this socket are exchanged from now on; -1 for none. */
void vault_given_watch(vault_given *given, int socket);

/* Sets whether files are taken. If not, the kernel drops them, which waits for nothing, and sd-bus drops their
 * messages. */
void vault_given_accept(vault_given *given, bool accepts);

/* Returns the file behind a placeholder, which the caller has to close, or -1. */
int vault_given_take(int placeholder);

/* Returns a file whose placeholder was closed, and which the caller has to close, or -1 if there is none now. */
int vault_given_left(vault_given *given);

/* Forgets a socket and the register. The files that are left must be taken from it before. */
void vault_given_free(vault_given *given);
