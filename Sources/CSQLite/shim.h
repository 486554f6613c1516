#pragma once
#include <sqlite3.h>
#include <string.h>

/* SQLITE_TRANSIENT and SQLITE_STATIC are casts of integers to a function pointer, which Swift cannot import. */
static inline int vault_bind_blob_copy(sqlite3_stmt *s, int i, const void *p, int n) {
    return p ? sqlite3_bind_blob(s, i, p, n, SQLITE_TRANSIENT) : sqlite3_bind_zeroblob(s, i, 0);
}
static inline int vault_bind_blob_borrowed(sqlite3_stmt *s, int i, const void *p, int n) {
    return p ? sqlite3_bind_blob(s, i, p, n, SQLITE_STATIC) : sqlite3_bind_zeroblob(s, i, 0);
}
static inline int vault_bind_text_copy(sqlite3_stmt *s, int i, const char *p, int n) {
    return sqlite3_bind_text(s, i, p, n, SQLITE_TRANSIENT);
}

/* Turns SQLite's memory statistics off, so that SQLite takes no process-wide lock for each allocation. Call this before
   the first use of SQLite. */
static inline int vault_sqlite_configure(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/* The state of a guarded file, whose pages are checked as they are read. `methods` replace the file's functions, and
   `own` are the functions that SQLite gave it. */
struct vault_guard {
    sqlite3_io_methods methods;
    const sqlite3_io_methods *own;
    int page;
    int longest;
    /* For a log: the bytes that are gathered to be written in one piece (`count` bytes in a buffer of `room` bytes),
       and their offset in the file. */
    unsigned char *gathered;
    int room, count;
    sqlite3_int64 start;
    /* The error of such a write, and its offset. The error is kept until a sync reports it to SQLite, or until SQLite
       writes at or before that offset again. */
    int failure;
    sqlite3_int64 lost;
    /* Nonzero while the sync of a commit only writes the gathered bytes and does not wait for the disk. */
    int defers;
    /* Nonzero while a commit that did not wait may not be on the disk yet. */
    int owed;
    /* Nonzero while the log may have frames of a transaction that is not committed. */
    int begun;
};

/* Returns 1 if a page of an index has a key that claims to be longer than `longest` bytes, and 0 otherwise
   (sqlite.org/fileformat2.html, section 1.6). Cells outside the page are not checked here, because SQLite refuses them
   (cell_size_check). */
static inline int vault_page_overclaims(const unsigned char *page, int size, int longest) {
    int inner = page[0] == 2, count = page[3] << 8 | page[4];
    if (!inner && page[0] != 10) return 0;
    for (int at = inner ? 12 : 8; count > 0 && at + 1 < size; count--, at += 2) {
        int key = ((page[at] << 8 | page[at + 1]) & (size - 1)) + (inner ? 4 : 0), claim = 0;
        for (int more = 1; more && key < size; key++) {
            claim = claim << 7 | (page[key] & 0x7F);
            more = page[key] & 0x80;
            if (claim > longest) return 1;
        }
    }
    return 0;
}

static inline int vault_guarded_read(sqlite3_file *file, void *p, int n, sqlite3_int64 at) {
    const struct vault_guard *guard = (const struct vault_guard *)file->pMethods;
    int code = guard->own->xRead(file, p, n, at);
    return code == SQLITE_OK && n == guard->page && vault_page_overclaims(p, n, guard->longest) ? SQLITE_CORRUPT : code;
}

/* Makes a read from the file fail with SQLITE_CORRUPT if the page has a key that claims to be longer than `longest`
   bytes. SQLite trusts the length that a page of an index states for a key, whatever SQLITE_LIMIT_LENGTH says: it reads
   that much into memory, and for a length of 2 GiB it writes outside the memory that it has. The guard must live until
   the file is closed. If there is no file, the call has no effect. */
static inline void vault_guard_file(sqlite3_file *file, struct vault_guard *guard, int page, int longest) {
    if (!file || !file->pMethods) return;
    guard->own = file->pMethods;
    guard->methods = *file->pMethods;
    guard->methods.xRead = vault_guarded_read;
    guard->page = page;
    guard->longest = longest;
    file->pMethods = &guard->methods;
}

/* Writes to the log, after it has made sure that the commit before this write is on the disk. SQLite reads a log up to
   the first transaction that is not there as a whole, so no part of a later transaction may follow that one. */
static inline int vault_write_after_commit(sqlite3_file *file, const void *p, int n, sqlite3_int64 at) {
    struct vault_guard *guard = (struct vault_guard *)file->pMethods;
    if (guard->owed) {
        int code = guard->own->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
        if (code != SQLITE_OK) return code;
        guard->owed = 0;
    }
    return guard->own->xWrite(file, p, n, at);
}

static inline int vault_write_gathered(sqlite3_file *file) {
    struct vault_guard *guard = (struct vault_guard *)file->pMethods;
    if (guard->count == 0) return SQLITE_OK;
    int code = vault_write_after_commit(file, guard->gathered, guard->count, guard->start);
    guard->count = 0;
    if (code != SQLITE_OK) guard->failure = code, guard->lost = guard->start;
    return code;
}

static inline int vault_gathering_write(sqlite3_file *file, const void *p, int n, sqlite3_int64 at) {
    struct vault_guard *guard = (struct vault_guard *)file->pMethods;
    guard->begun = 1;
    if (at <= guard->lost) guard->failure = SQLITE_OK;
    if (at != guard->start + guard->count || guard->count + n > guard->room) {
        int code = vault_write_gathered(file);
        if (code != SQLITE_OK) return code;
        guard->start = at;
    }
    if (n > guard->room) return vault_write_after_commit(file, p, n, at);
    memcpy(guard->gathered + guard->count, p, n);
    guard->count += n;
    return SQLITE_OK;
}

static inline int vault_gathering_sync(sqlite3_file *file, int flags) {
    struct vault_guard *guard = (struct vault_guard *)file->pMethods;
    /* If the log begins anew, SQLite must not take frames of the old log for frames of the new one. So the new header
       must be on the disk first, and this sync waits for the disk. */
    int begins = guard->start == 0 && guard->count > 0;
    int code = vault_write_gathered(file);
    if (code == SQLITE_OK) code = guard->failure;
    guard->failure = SQLITE_OK;
    if (code != SQLITE_OK) return code;
    if (guard->defers && !begins) {
        guard->owed = 1;
        return SQLITE_OK;
    }
    code = guard->own->xSync(file, flags);
    if (code == SQLITE_OK) guard->owed = 0;
    return code;
}

static inline int vault_gathering_read(sqlite3_file *file, void *p, int n, sqlite3_int64 at) {
    int code = vault_write_gathered(file);
    return code == SQLITE_OK ? vault_guarded_read(file, p, n, at) : code;
}

static inline int vault_gathering_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int code = vault_write_gathered(file);
    return code == SQLITE_OK ? ((struct vault_guard *)file->pMethods)->own->xTruncate(file, size) : code;
}

static inline int vault_gathering_size(sqlite3_file *file, sqlite3_int64 *size) {
    int code = vault_write_gathered(file);
    return code == SQLITE_OK ? ((struct vault_guard *)file->pMethods)->own->xFileSize(file, size) : code;
}

static inline int vault_gathering_close(sqlite3_file *file) {
    const sqlite3_io_methods *own = ((struct vault_guard *)file->pMethods)->own;
    vault_write_gathered(file); /* No gathered byte belongs to a commit, because a commit ends with a sync. */
    file->pMethods = own;
    return own->xClose(file);
}

/* Makes a guarded log gather its writes in `room` bytes of memory. They are written once the log is synced, read,
   truncated, measured or closed, or once a write does not follow the gathered bytes or does not fit. Larger writes are
   good because SQLite writes each frame in two pieces, and safe because a commit does not count before its sync. */
static inline void vault_gather_writes(sqlite3_file *file, struct vault_guard *guard, unsigned char *memory, int room) {
    if (!file || file->pMethods != &guard->methods) return;
    guard->gathered = memory;
    guard->room = room;
    guard->lost = -1;
    guard->methods.xWrite = vault_gathering_write;
    guard->methods.xSync = vault_gathering_sync;
    guard->methods.xRead = vault_gathering_read;
    guard->methods.xTruncate = vault_gathering_truncate;
    guard->methods.xFileSize = vault_gathering_size;
    guard->methods.xClose = vault_gathering_close;
}

static inline sqlite3_file *vault_main_file(sqlite3 *db) {
    sqlite3_file *file = 0;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return file;
}

/* sqlite3_db_config is variadic; every option used here takes an on-off switch. */
static inline int vault_db_switch(sqlite3 *db, int option, int on) {
    return sqlite3_db_config(db, option, on, (int *)0);
}

/* Returns the log beside the database, as SQLite itself has it open; 0 if there is no log yet. */
static inline sqlite3_file *vault_log(sqlite3 *db) {
    sqlite3_file *file = 0;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    return file && file->pMethods ? file : 0;
}

/* Returns the system's error number for the last failed operation on the log or the database file; 0 if none failed.
   sqlite3_system_errno alone does not report operations that failed within a commit. */
static inline int vault_db_system_error(sqlite3 *db) {
    sqlite3_file *file = vault_log(db);
    int number = 0;
    if (file) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
    if (number == 0) sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number != 0 ? number : sqlite3_system_errno(db);
}

/* Reads n bytes from the log into p. Sets *whole to 1 if all n bytes were read, and to 0 otherwise. A log that ends
   earlier is not an error. */
static inline int vault_log_read(sqlite3 *db, void *p, int n, sqlite3_int64 at, int *whole) {
    sqlite3_file *file = vault_log(db);
    int code = file ? file->pMethods->xRead(file, p, n, at) : SQLITE_IOERR_SHORT_READ;
    *whole = code == SQLITE_OK;
    return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
}

/* Waits until what was written to the log is on the disk. */
static inline int vault_log_sync(sqlite3 *db) {
    sqlite3_file *file = vault_log(db);
    return file ? file->pMethods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY) : SQLITE_OK;
}

/* Forgets the gathered bytes. Call this only between two transactions: the bytes belong to one that failed. */
static inline void vault_log_forget(struct vault_guard *guard) {
    guard->count = 0;
    guard->failure = SQLITE_OK;
}

/* Cuts the log to a size, if it is longer, and waits until all of it is on the disk, even if commits do not wait. */
static inline int vault_log_cut(sqlite3 *db, struct vault_guard *guard, sqlite3_int64 size) {
    sqlite3_file *file = vault_log(db);
    if (!file) return SQLITE_OK;
    const sqlite3_io_methods *methods = file->pMethods == &guard->methods ? guard->own : file->pMethods;
    sqlite3_int64 found = 0;
    int code = methods->xFileSize(file, &found);
    if (code == SQLITE_OK && found > size) code = methods->xTruncate(file, size);
    if (code == SQLITE_OK) code = methods->xSync(file, SQLITE_SYNC_NORMAL);
    if (code == SQLITE_OK) guard->owed = guard->begun = 0;
    return code;
}

/* Stores the size of the log in *size; 0 if there is no log. */
static inline int vault_log_size(sqlite3 *db, sqlite3_int64 *size) {
    sqlite3_file *file = vault_log(db);
    *size = 0;
    return file ? file->pMethods->xFileSize(file, size) : SQLITE_OK;
}
