#pragma once

#include <stdint.h>

/* Confines this process, which has one thread, to computing, and to reading and writing descriptor 0. There is no way
 * back. `memory` is added to the most memory that is stated below. From now on:
 *
 * - every descriptor but 0 is closed, and no call opens, makes or receives another one;
 * - the kernel ends the process with SIGSYS at any call but those few that an allocation, a lock, a random number, and
 *   the end of the process need: no file, socket, process, signal or executable memory;
 * - the limits below hold.
 *
 * Start libraries before, because most of them read files then. Under a sanitizer, which needs many calls of its own,
 * the function does nothing.
 *
 * Returns NULL, or the name of the step that failed, with the reason in errno. A kernel without Landlock is no
 * failure: Landlock only stands behind the filter of calls. */
const char *vault_enter_sandbox(uint64_t memory);

/* Landlock's part of it, by itself for a test, after no_new_privs: refuses every access to files that the kernel's
 * Landlock knows of. Returns 0, or 1 if the kernel has no Landlock, or -1 with the reason in errno. */
int vault_refuse_files(void);

/* The most memory in bytes: 512 MiB of files, 1 GiB of Argon2 or of decompressed text, as much as the files again for
 * a decrypted copy of them, and the rest for the entries and the program. An allocation beyond it fails. */
#define VAULT_SANDBOX_MEMORY (3ull << 30)

/* The most seconds of processor time, after which SIGXCPU ends the process. */
#define VAULT_SANDBOX_SECONDS 600
