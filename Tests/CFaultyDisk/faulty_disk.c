#include "faulty_disk.h"
#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct faulty_disk {
    char directory[256];
    struct faulty_disk_event *events;
    int64_t count, room;
    int64_t left, failures;
    int code, number, once;
    int64_t spoiled_from, spoiled_to;
    struct faulty_disk *next;
};

struct file {
    sqlite3_file base;
    faulty_disk *disk;
    char name[32];
    int error; /* of the last operation that failed */
    sqlite3_file *real;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static faulty_disk *disks;
static sqlite3_vfs *system_vfs;
static sqlite3_vfs vfs;

/* The disk of a path, and the file's name on it. */
static faulty_disk *find(const char *path, const char **name) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (!slash || strlen(slash + 1) >= sizeof ((struct file *)0)->name) return NULL;
    pthread_mutex_lock(&lock);
    faulty_disk *disk = disks;
    while (disk && (strlen(disk->directory) != (size_t)(slash - path) ||
                    strncmp(disk->directory, path, (size_t)(slash - path)) != 0))
        disk = disk->next;
    pthread_mutex_unlock(&lock);
    *name = slash + 1;
    return disk;
}

static void record(faulty_disk *disk, int kind, const char *name, int64_t offset, const void *data, int64_t size) {
    if (disk->count == disk->room) {
        disk->room = disk->room ? 2 * disk->room : 256;
        disk->events = realloc(disk->events, (size_t)disk->room * sizeof *disk->events);
    }
    struct faulty_disk_event *event = &disk->events[disk->count++];
    memset(event, 0, sizeof *event);
    event->kind = kind;
    strncpy(event->file, name, sizeof event->file - 1);
    event->offset = offset;
    event->size = size;
    if (data) event->data = memcpy(malloc((size_t)size + 1), data, (size_t)size);
}

static int failing(faulty_disk *disk) {
    if (disk->left < 0) return SQLITE_OK;
    if (disk->left > 0) { disk->left--; return SQLITE_OK; }
    if (disk->once && disk->failures) return SQLITE_OK;
    disk->failures++;
    return disk->code;
}

static struct file *own(sqlite3_file *file) { return (struct file *)file; }
static int file_failing(struct file *file) {
    int code = failing(file->disk);
    if (code != SQLITE_OK) file->error = file->disk->number;
    return code;
}
static sqlite3_file *real(sqlite3_file *file) { return own(file)->real; }

static int file_close(sqlite3_file *f) { return real(f)->pMethods->xClose(real(f)); }
static int file_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at) {
    const faulty_disk *disk = own(f)->disk;
    if (at < disk->spoiled_to && disk->spoiled_from < at + n && strcmp(own(f)->name, "vault.db") == 0) {
        own(f)->error = EIO;
        return SQLITE_IOERR_READ;
    }
    return real(f)->pMethods->xRead(real(f), p, n, at);
}
static int file_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at) {
    int code = file_failing(own(f));
    if (code != SQLITE_OK) return code;
    record(own(f)->disk, FAULTY_DISK_WRITE, own(f)->name, at, p, n);
    return real(f)->pMethods->xWrite(real(f), p, n, at);
}
static int file_truncate(sqlite3_file *f, sqlite3_int64 size) {
    int code = file_failing(own(f));
    if (code != SQLITE_OK) return code;
    record(own(f)->disk, FAULTY_DISK_TRUNCATE, own(f)->name, size, NULL, 0);
    return real(f)->pMethods->xTruncate(real(f), size);
}
static int file_sync(sqlite3_file *f, int flags) {
    int code = file_failing(own(f));
    if (code != SQLITE_OK) return code;
    record(own(f)->disk, FAULTY_DISK_SYNC, own(f)->name, 0, NULL, 0);
    return real(f)->pMethods->xSync(real(f), flags);
}
static int file_size(sqlite3_file *f, sqlite3_int64 *size) { return real(f)->pMethods->xFileSize(real(f), size); }
static int file_lock(sqlite3_file *f, int level) { return real(f)->pMethods->xLock(real(f), level); }
static int file_unlock(sqlite3_file *f, int level) { return real(f)->pMethods->xUnlock(real(f), level); }
static int file_reserved(sqlite3_file *f, int *out) { return real(f)->pMethods->xCheckReservedLock(real(f), out); }
static int file_control(sqlite3_file *f, int op, void *p) {
    if (op == SQLITE_FCNTL_LAST_ERRNO && own(f)->error) {
        *(int *)p = own(f)->error;
        return SQLITE_OK;
    }
    return real(f)->pMethods->xFileControl(real(f), op, p);
}
static int file_sector(sqlite3_file *f) { return real(f)->pMethods->xSectorSize(real(f)); }
static int file_characteristics(sqlite3_file *f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); }

/* Version 1: no memory map, so that every byte passes here, and no shared memory, which the store does not use. */
static const sqlite3_io_methods methods = {
    .iVersion = 1, .xClose = file_close, .xRead = file_read, .xWrite = file_write, .xTruncate = file_truncate,
    .xSync = file_sync, .xFileSize = file_size, .xLock = file_lock, .xUnlock = file_unlock,
    .xCheckReservedLock = file_reserved, .xFileControl = file_control, .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_characteristics,
};

static int vfs_open(sqlite3_vfs *v, sqlite3_filename path, sqlite3_file *f, int flags, int *out) {
    const char *name;
    faulty_disk *disk = find(path, &name);
    (void)v;
    if (!disk) return system_vfs->xOpen(system_vfs, path, f, flags, out);
    struct file *file = own(f);
    memset(file, 0, sizeof *file);
    file->disk = disk;
    strcpy(file->name, name);
    file->real = (sqlite3_file *)(file + 1);
    int code = system_vfs->xOpen(system_vfs, path, file->real, flags, out);
    if (file->real->pMethods) file->base.pMethods = &methods;
    return code;
}

static int vfs_delete(sqlite3_vfs *v, const char *path, int sync) {
    const char *name;
    faulty_disk *disk = find(path, &name);
    (void)v;
    if (disk) {
        int code = failing(disk);
        if (code != SQLITE_OK) return code;
        record(disk, FAULTY_DISK_REMOVE, name, 0, NULL, 0);
    }
    return system_vfs->xDelete(system_vfs, path, sync);
}

static void install(void) {
    system_vfs = sqlite3_vfs_find(NULL);
    vfs = *system_vfs;
    vfs.zName = "faulty-disk";
    vfs.szOsFile = (int)sizeof(struct file) + system_vfs->szOsFile;
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    vfs.pNext = NULL;
    sqlite3_vfs_register(&vfs, 1);
}

faulty_disk *faulty_disk_watch(const char *directory) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    faulty_disk *disk = calloc(1, sizeof *disk);
    strncpy(disk->directory, directory, sizeof disk->directory - 1);
    disk->left = -1;
    pthread_mutex_lock(&lock);
    disk->next = disks;
    disks = disk;
    pthread_mutex_unlock(&lock);
    return disk;
}

void faulty_disk_forget(faulty_disk *disk) {
    pthread_mutex_lock(&lock);
    faulty_disk **place = &disks;
    while (*place != disk) place = &(*place)->next;
    *place = disk->next;
    pthread_mutex_unlock(&lock);
    for (int64_t i = 0; i < disk->count; i++) free((void *)disk->events[i].data);
    free(disk->events);
    free(disk);
}

int64_t faulty_disk_count(const faulty_disk *disk) { return disk->count; }
struct faulty_disk_event faulty_disk_event_at(const faulty_disk *disk, int64_t index) { return disk->events[index]; }

void faulty_disk_fail(faulty_disk *disk, int64_t after, int code, int number, int once) {
    disk->left = after;
    disk->code = code;
    disk->number = number;
    disk->once = once;
    disk->failures = 0;
}

void faulty_disk_spoil(faulty_disk *disk, int64_t from, int64_t to) {
    disk->spoiled_from = from;
    disk->spoiled_to = to;
}

int64_t faulty_disk_failures(const faulty_disk *disk) { return disk->failures; }
