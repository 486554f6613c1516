#include "memory_search.h"
#include <string.h>

/* In C because the tests run unoptimized too; Package.swift optimizes this file alone. */
int memory_search(const uint8_t *memory, size_t size, const uint8_t (*needles)[8], size_t count) {
    static const uint8_t zeros[64];
    static _Thread_local uint8_t first_two[1 << 16];
    memset(first_two, 0, sizeof first_two);
    for (size_t i = 0; i < count; i++) first_two[needles[i][0] | needles[i][1] << 8] = 1;
    for (size_t at = 0; at + 8 <= size; at++) {
        if (!first_two[memory[at] | memory[at + 1] << 8]) {
            /* Most memory is zeros. No needle begins with two of them here, so none begins among these but the last. */
            if (memory[at] == 0 && !first_two[0] && at + 64 <= size && memcmp(memory + at, zeros, 64) == 0) at += 62;
            continue;
        }
        for (size_t i = 0; i < count; i++)
            if (memcmp(memory + at, needles[i], 8) == 0) return 1;
    }
    return 0;
}
