/* secrets WHAT …: a program of the desktop, which stores and asks for secrets at the service on the session bus.
 *
 *   fill COLLECTION COUNT     stores items of the servers 0, 1, …, with the attributes of git's helper
 *   lookup SECONDS COUNT      has libsecret look up the secrets of these, one after the other, in one session
 *   search SECONDS COUNT      asks for their paths alone
 *   pairs SECONDS COLLECTION  makes an item and deletes it; at least once
 *
 * Prints one JSON object: how many, and the milliseconds of the least, the median and the longest. */
#include "wire.h"
#include <libsecret/secret.h>

enum { most = 1 << 20 };
static const char *name = "org.freedesktop.secrets", *root = "/org/freedesktop/secrets";
static GDBusConnection *bus;
static const char *session;

static _Noreturn void fail(GError *error) {
    fprintf(stderr, "bench: %s\n", error ? error->message : "no such secret");
    exit(1);
}

static GVariant *call(const char *path, const char *interface, const char *member, GVariant *values,
                      const char *answer) {
    GError *error = NULL;
    char *whole = g_strconcat("org.freedesktop.Secret.", interface, NULL);
    GVariant *got = g_dbus_connection_call_sync(bus, name, path, whole, member, values, G_VARIANT_TYPE(answer),
                                                G_DBUS_CALL_FLAGS_NONE, G_MAXINT, NULL, &error);
    if (!got) fail(error);
    g_free(whole);
    return got;
}

static void open_session(void) {
    GVariant *plain = g_variant_new("(sv)", "plain", g_variant_new_string(""));
    GVariant *got = call(root, "Service", "OpenSession", plain, "(vo)");
    g_variant_get(got, "(vo)", NULL, &session);
}

static const SecretSchema schema = {
    .name = "org.gnome.keyring.NetworkPassword",
    .attributes = {{"user", SECRET_SCHEMA_ATTRIBUTE_STRING}, {"server", SECRET_SCHEMA_ATTRIBUTE_STRING},
                   {"protocol", SECRET_SCHEMA_ATTRIBUTE_STRING}}};

static GVariant *attributes(const char *server) {
    GVariantBuilder all;
    g_variant_builder_init(&all, G_VARIANT_TYPE("a{ss}"));
    g_variant_builder_add(&all, "{ss}", "xdg:schema", schema.name);
    g_variant_builder_add(&all, "{ss}", "user", "ana");
    g_variant_builder_add(&all, "{ss}", "server", server);
    g_variant_builder_add(&all, "{ss}", "protocol", "https");
    return g_variant_builder_end(&all);
}

/* The path of a new item. */
static char *make(const char *collection, const char *server, const char *secret) {
    GVariantBuilder properties;
    g_variant_builder_init(&properties, G_VARIANT_TYPE("a{sv}"));
    g_variant_builder_add(&properties, "{sv}", "org.freedesktop.Secret.Item.Label", g_variant_new_string(server));
    g_variant_builder_add(&properties, "{sv}", "org.freedesktop.Secret.Item.Attributes", attributes(server));
    GVariant *bytes = g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, secret, strlen(secret), 1);
    GVariant *empty = g_variant_new_fixed_array(G_VARIANT_TYPE_BYTE, NULL, 0, 1);
    GVariant *whole = g_variant_new("(o@ay@ays)", session, empty, bytes, "text/plain");
    GVariant *got = call(collection, "Collection", "CreateItem",
                         g_variant_new("(a{sv}@(oayays)b)", &properties, whole, FALSE), "(oo)");
    char *path;
    g_variant_get(got, "(oo)", &path, NULL);
    if (strcmp(path, "/") == 0) fail(NULL);
    g_variant_unref(got);
    return path;
}

static void look_up(const char *server) {
    GError *error = NULL;
    char *secret = secret_password_lookup_sync(&schema, NULL, &error, "user", "ana", "server", server, "protocol",
                                               "https", NULL);
    if (!secret) fail(error);
    secret_password_free(secret);
}

static void search(const char *server) {
    GVariant *got = call(root, "Service", "SearchItems", g_variant_new("(@a{ss})", attributes(server)), "(aoao)");
    GVariant *open = g_variant_get_child_value(got, 0);
    if (g_variant_n_children(open) != 1) fail(NULL);
    g_variant_unref(open);
    g_variant_unref(got);
}

static void pair(const char *collection) {
    char *path = make(collection, "pair.example", "secret");
    g_variant_unref(call(path, "Item", "Delete", NULL, "(o)"));
    g_free(path);
}

int main(int argc, char **argv) {
    if (argc != 4) return 64;
    const char *what = argv[1];
    GError *error = NULL;
    if (!(bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error))) fail(error);
    open_session();
    if (strcmp(what, "fill") == 0) {
        for (long i = 0; i < atol(argv[3]); i++) {
            char server[32], secret[72];
            snprintf(server, sizeof server, "git-%ld.example", i);
            snprintf(secret, sizeof secret, "%064ld", i);
            g_free(make(argv[2], server, secret));
        }
        return 0;
    }
    double seconds = strtod(argv[2], NULL), *times = calloc(most, sizeof *times), began = 0;
    long count = atol(argv[3]), made = -1;
    if (!times) die("calloc");
    // The first one connects and opens a session, and is not counted.
    for (double end = 0; made < 1 || (end - began < seconds && made < most); made++) {
        char server[32];
        snprintf(server, sizeof server, "git-%ld.example", count > 0 ? (made + 1) * 7919 % count : 0);
        double start = now();
        if (strcmp(what, "lookup") == 0) look_up(server);
        else if (strcmp(what, "search") == 0) search(server);
        else if (strcmp(what, "pairs") == 0) pair(argv[3]);
        else return 64;
        end = now();
        if (made < 0) began = end;
        else times[made] = (end - start) * 1e3;
    }
    printf("{\"count\": %ld, \"min\": %.4f, \"median\": %.4f, \"max\": %.4f}\n", made, quantile(times, made, 0),
           quantile(times, made, 0.5), quantile(times, made, 1));
    return 0;
}
