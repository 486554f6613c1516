#pragma once
#include <sqlite3.h>

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

/* SQLite's own functions for memory, and how long a piece may be. */
struct vault_memory {
    sqlite3_mem_methods methods;
    int longest;
};
static inline struct vault_memory *vault_memory(void) {
    static struct vault_memory memory;
    return &memory;
}

/* Whether the system had no piece of memory for this thread since it asked that. Where SQLite says that there was none,
   and this does not, the piece was too long: refused here, or so long that SQLite itself does not ask for it. */
static inline int *vault_memory_lack(void) {
    static _Thread_local int lack;
    return &lack;
}
static inline int vault_memory_was_lacking(void) {
    int lack = *vault_memory_lack();
    *vault_memory_lack() = 0;
    return lack;
}

static inline void *vault_memory_got(void *p) {
    if (!p) *vault_memory_lack() = 1;
    return p;
}
static inline void *vault_memory_get(int n) {
    return n > vault_memory()->longest ? 0 : vault_memory_got(vault_memory()->methods.xMalloc(n));
}
static inline void *vault_memory_resize(void *p, int n) {
    return n > vault_memory()->longest ? 0 : vault_memory_got(vault_memory()->methods.xRealloc(p, n));
}

/* Has SQLite take no piece of memory longer than that: where it looks a key up, it believes a file how long each key is,
   whatever SQLITE_LIMIT_LENGTH says, and reads so much of it. And without its memory statistics it takes no process-wide
   lock for each piece. Before its first use, and in one source file only: each has variables of its own. */
static inline int vault_sqlite_configure(int longest) {
    sqlite3_mem_methods methods;
    int code = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (code == SQLITE_OK) code = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &vault_memory()->methods);
    if (code != SQLITE_OK) return code;
    vault_memory()->longest = longest;
    methods = vault_memory()->methods;
    methods.xMalloc = vault_memory_get;
    methods.xRealloc = vault_memory_resize;
    return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods);
}

/* sqlite3_db_config is variadic; every option used here takes an on-off switch. */
static inline int vault_db_switch(sqlite3 *db, int option, int on) {
    return sqlite3_db_config(db, option, on, (int *)0);
}

/* The log beside the database, through SQLite's own descriptor; 0 when there is none yet. */
static inline sqlite3_file *vault_log(sqlite3 *db) {
    sqlite3_file *file = 0;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    return file && file->pMethods ? file : 0;
}

/* The system's error number behind the last failed operation on the log or the database file; 0 when there was none.
   sqlite3_system_errno does not know of those that fail within a commit. */
static inline int vault_db_system_error(sqlite3 *db) {
    sqlite3_file *file = vault_log(db);
    int number = 0;
    if (file) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
    if (number == 0) sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number != 0 ? number : sqlite3_system_errno(db);
}

/* Fills n bytes from the log; *whole is 0 when it ends before that. */
static inline int vault_log_read(sqlite3 *db, void *p, int n, sqlite3_int64 at, int *whole) {
    sqlite3_file *file = vault_log(db);
    int code = file ? file->pMethods->xRead(file, p, n, at) : SQLITE_IOERR_SHORT_READ;
    *whole = code == SQLITE_OK;
    return code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
}

/* How long the log is. */
static inline int vault_log_size(sqlite3 *db, sqlite3_int64 *size) {
    sqlite3_file *file = vault_log(db);
    *size = 0;
    return file ? file->pMethods->xFileSize(file, size) : SQLITE_OK;
}
