#define _GNU_SOURCE
#include "memory_search.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

int is_thread_sanitized(void) { return __has_feature(thread_sanitizer); }
int is_sanitized(void) { return __has_feature(address_sanitizer) || is_thread_sanitized(); }

/* Before the first test of whatever suites are run; not there in programs without tests. */
extern void vault_tests_begin(void) __attribute__((weak));
__attribute__((constructor)) static void begin(void) {
    if (vault_tests_begin) vault_tests_begin();
}

/* In C because the tests run unoptimized too; Package.swift optimizes this file alone. */
void memory_search(
    const uint8_t *memory, size_t size, const struct needle *needles, size_t count, uint8_t *found) {
    static const uint8_t zeros[64];
    /* Chains of the needles that begin with the same two bytes; 0 ends one. */
    uint32_t *first = calloc(1 << 16, sizeof *first), *next = calloc(count + 1, sizeof *next);
    if (!first || !next) abort();
    for (size_t i = 0; i < count; i++) {
        uint32_t *head = &first[needles[i].bytes[0] | needles[i].bytes[1] << 8];
        next[i + 1] = *head;
        *head = (uint32_t)i + 1;
    }
    for (size_t at = 0; at + 4 <= size; at++) {
        for (uint32_t i = first[memory[at] | memory[at + 1] << 8]; i; i = next[i])
            if (needles[i - 1].length <= size - at &&
                memcmp(memory + at, needles[i - 1].bytes, needles[i - 1].length) == 0)
                found[i - 1] = 1;
        /* Most memory is zeros. Where no needle begins with two of them, none begins among these but at the last. */
        if (memory[at] == 0 && !first[0] && size - at >= 64 && memcmp(memory + at, zeros, 64) == 0) at += 62;
    }
    free(first);
    free(next);
}

static size_t registers_of(int thread, uint8_t *registers, size_t size) {
    size_t used = 0;
    int status;
    if (ptrace(PTRACE_SEIZE, thread, 0, 0)) return 0;
    if (ptrace(PTRACE_INTERRUPT, thread, 0, 0) == 0 && waitpid(thread, &status, __WALL) == thread) {
        /* NT_PRSTATUS: the general ones; NT_PRFPREG: the vector ones, or on x86 what NT_X86_XSTATE has all of. */
        const int sets[] = {NT_PRSTATUS, NT_PRFPREG, NT_X86_XSTATE};
        for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
            struct iovec vector = {registers + used, size - used};
            if (ptrace(PTRACE_GETREGSET, thread, (void *)(long)sets[i], &vector) == 0) used += vector.iov_len;
        }
    }
    ptrace(PTRACE_DETACH, thread, 0, 0);
    return used;
}

long thread_registers(int thread, uint8_t *registers, size_t size) {
    /* In a process of its own: a thread that waits for the end of `thread`'s process would take the stop for it. */
    int ends[2], status;
    if (pipe2(ends, O_CLOEXEC)) return -1;
    pid_t tracer = fork();
    if (tracer == 0) {
        size_t used = registers_of(thread, registers, size);
        for (size_t sent = 0; sent < used;) {
            ssize_t count = write(ends[1], registers + sent, used - sent);
            if (count <= 0) break;
            sent += (size_t)count;
        }
        _exit(0);
    }
    close(ends[1]);
    size_t received = 0;
    ssize_t count;
    while (received < size && (count = read(ends[0], registers + received, size - received)) > 0)
        received += (size_t)count;
    close(ends[0]);
    if (tracer > 0)
        while (waitpid(tracer, &status, 0) < 0 && errno == EINTR) {}
    return (long)received;
}

#if defined(__x86_64__)
#define LOW(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15)
#define HIGH(f) f(16) f(17) f(18) f(19) f(20) f(21) f(22) f(23) f(24) f(25) f(26) f(27) f(28) f(29) f(30) f(31)
#define CLOBBER_LOW "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", \
    "xmm12", "xmm13", "xmm14", "xmm15"

static int count_filled(const uint64_t (*blocks)[2], uint64_t pattern, int count) {
    int found = 0;
    for (int i = 0; i < count; i++) found += blocks[i][0] == pattern && blocks[i][1] == pattern;
    return found;
}

static int low_registers_left(void (*body)(void), uint64_t pattern) {
    uint64_t blocks[16][2];
#define FILL(n) "movq %0, %%xmm" #n "\n\tpunpcklqdq %%xmm" #n ", %%xmm" #n "\n\t"
    __asm__ volatile(LOW(FILL)::"r"(pattern) : CLOBBER_LOW);
    body();
#define STORE(n) "movups %%xmm" #n ", 16*" #n "(%0)\n\t"
    __asm__ volatile(LOW(STORE)::"r"(blocks) : "memory");
    return count_filled(blocks, pattern, 16);
}

__attribute__((target("avx512f,avx512vl"))) static int high_registers_left(void (*body)(void), uint64_t pattern) {
    uint64_t blocks[16][2];
#define FILL_HIGH(n) "vpbroadcastq %0, %%xmm" #n "\n\t"
    __asm__ volatile(HIGH(FILL_HIGH)::"r"(pattern)
                     : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",
                       "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
    body();
#define STORE_HIGH(n) "vmovdqu64 %%xmm" #n ", 16*(" #n "-16)(%0)\n\t"
    __asm__ volatile(HIGH(STORE_HIGH)::"r"(blocks) : "memory");
    return count_filled(blocks, pattern, 16);
}

int vector_registers_left(void (*body)(void)) {
    const uint64_t pattern = 0xA55AC33C96690FF0;
    int found = low_registers_left(body, pattern);
    if (__builtin_cpu_supports("avx512vl")) found += high_registers_left(body, pattern);
    return found;
}
#else
int vector_registers_left(void (*body)(void)) {
    (void)body;
    return -1;
}
#endif

/* Returns when the end of `process` has come and was let go on, or nobody waits for it any more. */
static void hold(int process, int said, int release) {
    int status;
    char byte;
    if (ptrace(PTRACE_SEIZE, process, 0, (void *)PTRACE_O_TRACEEXIT)) return;
    if (write(said, "s", 1) != 1) return;
    while (waitpid(process, &status, __WALL) == process && WIFSTOPPED(status)) {
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8)) {
            if (write(said, "x", 1) == 1)
                while (read(release, &byte, 1) < 0 && errno == EINTR) {}
            ptrace(PTRACE_DETACH, process, 0, 0);
            return;
        }
        /* A stop of the whole group lasts, as it would without a tracer; a signal goes where it was going. */
        if (status >> 16 == PTRACE_EVENT_STOP) ptrace(PTRACE_LISTEN, process, 0, 0);
        else ptrace(PTRACE_CONT, process, 0, (void *)(long)WSTOPSIG(status));
    }
}

int hold_at_end(int process, int *events, int *release) {
    int up[2], down[2];
    if (pipe2(up, O_CLOEXEC)) return -1;
    if (pipe2(down, O_CLOEXEC)) {
        close(up[0]);
        close(up[1]);
        return -1;
    }
    pid_t tracer = fork();
    if (tracer == 0) {
        /* Those of others, too: a test that waits for the end of one of them would wait for this. */
        for (int number = 3; number < 4096; number++)
            if (number != up[1] && number != down[0]) close(number);
        hold(process, up[1], down[0]);
        _exit(0);
    }
    close(up[1]);
    close(down[0]);
    *events = up[0];
    *release = down[1];
    return tracer;
}
