#pragma once
#include "faulty_disk_names.h"
#include <stdint.h>

/* A disk that writes down what SQLite does to the files of one directory, and that fails when told to.
 *
 * It is an SQLite VFS (sqlite.org/vfs.html) in front of the system's own, and the default one from the first watch on:
 * files of directories that nobody watches go to the system's VFS without a detour. One disk belongs to one thread. */
typedef struct faulty_disk faulty_disk;

enum { FAULTY_DISK_WRITE, FAULTY_DISK_TRUNCATE, FAULTY_DISK_SYNC, FAULTY_DISK_REMOVE };

struct faulty_disk_event {
    int kind;
    char file[32];      /* the name within the directory */
    int64_t offset;     /* of a write; the new size of a truncated file */
    int64_t size;       /* of a write */
    const uint8_t *data;
};

faulty_disk *faulty_disk_watch(const char *directory);
void faulty_disk_forget(faulty_disk *disk);

int64_t faulty_disk_count(const faulty_disk *disk);
struct faulty_disk_event faulty_disk_event_at(const faulty_disk *disk, int64_t index);

/* From the `after`-th write, truncation or sync on, each fails with SQLite's result `code` and the system's `number`;
 * if `once`, that one alone. A negative `after` ends it. */
void faulty_disk_fail(faulty_disk *disk, int64_t after, int code, int number, int once);
/* The bytes of vault.db from one offset to another cannot be read. */
void faulty_disk_spoil(faulty_disk *disk, int64_t from, int64_t to);
/* The number of operations that have failed since then. */
int64_t faulty_disk_failures(const faulty_disk *disk);
