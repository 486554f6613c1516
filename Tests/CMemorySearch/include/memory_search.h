#pragma once
#include <stddef.h>
#include <stdint.h>

/* Tell whether a sanitizer was built in, and whether it is that of threads. */
int is_sanitized(void);
int is_thread_sanitized(void);

/* The bytes to look for; 4 at least. */
struct needle {
    uint8_t bytes[16];
    uint32_t length;
};

/* Sets `found[i]` to 1 for each of the needles that stands anywhere in `size` bytes. */
void memory_search(
    const uint8_t *memory, size_t size, const struct needle *needles, size_t count, uint8_t *found);

/* Stops a thread for a moment and puts all its registers into `registers`; how many bytes that is,
   0 when there is no such thread or it may not be traced. */
long thread_registers(int thread, uint8_t *registers, size_t size);

/* Fills the vector registers that a call may change, calls `body`, and says how many of them are as they were filled;
   -1 where it is not known how. */
int vector_registers_left(void (*body)(void));

/* Starts a process that holds `process`, which need not be a child, where it has ended but has all its memory still.
   `events` becomes the reading end of a pipe: a byte `s` once it waits for the end, another, `x`, when that has come.
   The end goes on when the writing end `release` is closed. The number of the holding process, or -1. */
int hold_at_end(int process, int *events, int *release);
