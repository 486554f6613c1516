#pragma once
#include <stddef.h>
#include <stdint.h>

/* Whether any of `count` 8-byte needles stands anywhere in `size` bytes. */
int memory_search(const uint8_t *memory, size_t size, const uint8_t (*needles)[8], size_t count);
