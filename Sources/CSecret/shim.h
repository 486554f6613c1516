#pragma once
#include <libsecret/secret.h>
#include <sys/random.h>

/* What a presence key is found by: the vault it belongs to, and its own id. */
static inline const SecretSchema *vault_presence_schema(void) {
    static const SecretSchema schema = {
        "io.vaultd.PresenceKey",
        SECRET_SCHEMA_NONE,
        {{"vault", SECRET_SCHEMA_ATTRIBUTE_STRING}, {"key", SECRET_SCHEMA_ATTRIBUTE_STRING}, {NULL, 0}},
        0, 0, 0, 0, 0, 0, 0, 0};
    return &schema;
}

/* secret_attributes_build is variadic. */
static inline GHashTable *vault_presence_attributes(const char *vault, const char *key) {
    GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_hash_table_insert(table, g_strdup("vault"), g_strdup(vault));
    g_hash_table_insert(table, g_strdup("key"), g_strdup(key));
    return table;
}

/* The result of a D-Bus call with one string in and one value out; NULL and an error otherwise. */
static inline GVariant *vault_bus_call(GDBusConnection *bus, const char *method, GVariant *parameters,
                                       GError **error) {
    GVariant *reply = g_dbus_connection_call_sync(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
                                                  "org.freedesktop.DBus", method, parameters, NULL,
                                                  G_DBUS_CALL_FLAGS_NONE, -1, NULL, error);
    if (reply == NULL) return NULL;
    GVariant *value = g_variant_get_child_value(reply, 0);
    g_variant_unref(reply);
    return value;
}

/* g_variant_new is variadic. */
static inline GVariant *vault_bus_name(const char *name) { return g_variant_new("(s)", name); }
static inline GVariant *vault_bus_start(const char *name) { return g_variant_new("(su)", name, 0); }

/* The items of a list are gpointer. */
static inline SecretItem *vault_item_at(GList *list) { return SECRET_ITEM(list->data); }

/* secret_value_unref takes a gpointer. */
static inline void vault_value_unref(SecretValue *value) { secret_value_unref(value); }

/* Not in the Glibc module. */
static inline int vault_random(void *bytes, size_t count) { return getrandom(bytes, count, 0) == (ssize_t)count; }

/* The service of this name. libsecret 0.20 takes a name and goes by its own variable all the same, for everything that
   follows. GLib's thread for the bus, which may run by now, reads no environment. */
static inline SecretService *vault_open_service(const char *name, GError **error) {
    g_setenv("SECRET_SERVICE_BUS_NAME", name, TRUE);
    return secret_service_open_sync(SECRET_TYPE_SERVICE, name, SECRET_SERVICE_OPEN_SESSION, NULL, error);
}
