/* The heap of a program that is linked with this wipes what is given back to it.
 *
 * Names, attributes and whatever else is no key pass through strings and arrays of many owners, none of which wipes
 * itself, and through libraries that know nothing of secrets. So free(3) does it for all of them: whoever reads the
 * memory of the process finds what something in it still holds, and nothing of what it held once.
 *
 * glibc lets a program bring functions of its own ("Replacing malloc" in its manual). malloc, calloc and the aligned
 * ones stay glibc's. In C because the Swift compiler keeps these two names to itself. */
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

/* glibc's own would give the old place back as it is. */
void *realloc(void *memory, size_t count) {
    if (!memory) return __libc_malloc(count);
    if (!count) {
        free(memory);
        return NULL;
    }
    size_t room = malloc_usable_size(memory);
    /* A place that is much too large is not kept for little. */
    if (count <= room && count >= room / 2) return memory;
    void *other = __libc_malloc(count);
    if (!other) return NULL;
    memcpy(other, memory, count < room ? count : room);
    free(memory);
    return other;
}

#endif
