#pragma once
#include <stdbool.h>

/* Keeps the files that other programs pass over a socket away from the library that reads the socket.
 *
 * Closing a file, or asking about it, may take forever: close(2) of a file on FUSE waits until the program that serves
 * the file system answers. sd-bus closes each file of a message on the thread that dispatches the message. So this
 * target replaces recvmsg(2): on a registered socket, the new function exchanges each file for a placeholder, which can
 * be closed at once. All functions but recvmsg and vault_given_take must be called on the thread that reads the
 * socket. */
typedef struct vault_given vault_given;

/* The most files that wait before further messages are refused, and the most files of one message (SCM_MAX_FD of
 * Linux). */
enum { VAULT_GIVEN_MOST = 64, VAULT_GIVEN_AT_ONCE = 253 };

/* Returns a register, or NULL without memory. */
vault_given *vault_given_new(void);

/* From now on, exchanges the files that come over this socket; -1 for no socket. */
void vault_given_watch(vault_given *given, int socket);

/* Sets whether files are taken. If not, the kernel drops them, which waits for nothing, and sd-bus drops their
 * messages. */
void vault_given_accept(vault_given *given, bool accepts);

/* Returns the file behind a placeholder, which the caller has to close, or -1. */
int vault_given_take(int placeholder);

/* Returns a file whose placeholder was closed, and which the caller has to close, or -1 if there is none now. */
int vault_given_left(vault_given *given);

/* Forgets a socket and the register. Take the files that are left first. */
void vault_given_free(vault_given *given);
