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

/* The system's error number behind the last failed operation on the log or the database file; 0 when there was none.
   sqlite3_system_errno does not know of those that fail within a commit. */
static inline int vault_db_system_error(sqlite3 *db) {
    sqlite3_file *file = 0;
    int number = 0;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file);
    if (file && file->pMethods) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number);
    if (number == 0) sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number != 0 ? number : sqlite3_system_errno(db);
}
