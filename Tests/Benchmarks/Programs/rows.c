/* rows SOURCE TARGET COUNT: the rows of the last COUNT items of the store SOURCE, written item by item by SQLite alone,
 * in one durable transaction, to TARGET, a copy of it from before they were there. Prints the number of rows and the
 * seconds that it took, as JSON. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static sqlite3 *source, *target;

static void need(int ok, sqlite3 *db, const char *what) {
    if (ok) return;
    fprintf(stderr, "rows: %s: %s\n", what, sqlite3_errmsg(db));
    exit(1);
}

static void run(sqlite3 *db, const char *sql) { need(sqlite3_exec(db, sql, 0, 0, 0) == SQLITE_OK, db, sql); }

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement;
    need(sqlite3_prepare_v2(db, sql, -1, &statement, 0) == SQLITE_OK, db, sql);
    return statement;
}

struct row { int count; sqlite3_value *values[8]; };

/* All rows of a query, in memory. */
static struct row *load(const char *sql, int items, int *count) {
    sqlite3_stmt *statement = prepare(source, sql);
    sqlite3_bind_int(statement, 1, items);
    struct row *rows = NULL;
    for (*count = 0; sqlite3_step(statement) == SQLITE_ROW; ++*count) {
        if (*count % 1024 == 0) rows = realloc(rows, (*count + 1024) * sizeof *rows);
        struct row *row = &rows[*count];
        row->count = sqlite3_column_count(statement);
        for (int i = 0; i < row->count; i++) row->values[i] = sqlite3_value_dup(sqlite3_column_value(statement, i));
    }
    sqlite3_finalize(statement);
    return rows;
}

static void insert(sqlite3_stmt *statement, const struct row *row) {
    for (int i = 0; i < row->count; i++) sqlite3_bind_value(statement, i + 1, row->values[i]);
    need(sqlite3_step(statement) == SQLITE_DONE, target, "insert");
    sqlite3_reset(statement);
}

#define LAST "(SELECT id FROM heads ORDER BY id DESC LIMIT ?1)"

int main(int argc, char **argv) {
    if (argc != 4) return 64;
    need(sqlite3_open_v2(argv[1], &source, SQLITE_OPEN_READONLY, 0) == SQLITE_OK, source, "open");
    need(sqlite3_open(argv[2], &target) == SQLITE_OK, target, "open");
    run(target, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    int heads, tags, items = atoi(argv[3]), next = 0;
    struct row *head = load("SELECT * FROM heads WHERE id IN " LAST " ORDER BY id", items, &heads);
    struct row *tag = load("SELECT * FROM tags WHERE item IN " LAST " ORDER BY item, random()", items, &tags);
    sqlite3_stmt *puthead = prepare(target, "INSERT INTO heads VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
    sqlite3_stmt *puttag = prepare(target, "INSERT INTO tags VALUES(?1, ?2, ?3)");
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    run(target, "BEGIN IMMEDIATE");
    for (int i = 0; i < heads; i++) {
        sqlite3_int64 item = sqlite3_value_int64(head[i].values[0]);
        for (insert(puthead, &head[i]); next < tags && sqlite3_value_int64(tag[next].values[1]) == item; next++)
            insert(puttag, &tag[next]);
    }
    need(next == tags, target, "tags of other items");
    run(target, "COMMIT");
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (to.tv_sec - from.tv_sec) + (to.tv_nsec - from.tv_nsec) / 1e9;
    printf("{\"rows\": %d, \"seconds\": %.6f}\n", heads + tags, seconds);
    return 0;
}
