#include "memory_search.h"
#include <string.h>

/* In C because the tests run unoptimized too, and a pass over all memory in unoptimized Swift takes minutes. */
int memory_search(const uint8_t *memory, size_t size, const uint8_t (*needles)[8], size_t count) {
    static _Thread_local uint8_t first_two[1 << 16];
    memset(first_two, 0, sizeof first_two);
    for (size_t i = 0; i < count; i++) first_two[needles[i][0] | needles[i][1] << 8] = 1;
    for (size_t at = 0; at + 8 <= size; at++) {
        if (!first_two[memory[at] | memory[at + 1] << 8]) continue;
        for (size_t i = 0; i < count; i++)
            if (memcmp(memory + at, needles[i], 8) == 0) return 1;
    }
    return 0;
}
