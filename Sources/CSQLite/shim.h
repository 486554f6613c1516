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

/* Without its memory statistics SQLite takes no process-wide lock for each allocation. Before its first use only. */
static inline int vault_sqlite_without_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

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
