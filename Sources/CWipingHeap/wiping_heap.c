/* Makes the heap of a program that is linked with this file wipe memory when it is freed.
 *
 * Names, attributes and other data that are not keys pass through strings and arrays of many owners, which do not wipe
 * themselves, and through libraries that know nothing of secrets. So free(3) wipes for all of them: a reader of the
 * process's memory finds the data that are still in use, and no freed data.
 *
 * glibc lets a program define these functions itself ("Replacing malloc" in its manual). malloc, calloc and the aligned
 * functions remain glibc's. This is C because the Swift compiler reserves the names free and realloc. */
#include "wiping_heap.h"
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

/* A sanitizer has a heap of its own. */
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

void *__libc_malloc(size_t count);
void __libc_free(void *memory);

void free(void *memory) {
    if (!memory) return;
    int before = errno;
    explicit_bzero(memory, malloc_usable_size(memory));
    __libc_free(memory);
    errno = before;
}

/* glibc's realloc would free the old memory without wiping it. */
void *realloc(void *memory, size_t count) {
    if (!memory) return __libc_malloc(count);
    if (!count) {
        free(memory);
        return NULL;
    }
    size_t room = malloc_usable_size(memory);
    /* Memory that is more than twice the new size is not kept. */
    if (count <= room && count >= room / 2) return memory;
    void *other = __libc_malloc(count);
    if (!other) return NULL;
    memcpy(other, memory, count < room ? count : room);
    free(memory);
    return other;
}

#endif
