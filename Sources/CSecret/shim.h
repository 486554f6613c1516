#pragma once
/* This makes libsecret declare the functions that take object paths. */
#define SECRET_API_SUBJECT_TO_CHANGE 1
#include <libsecret/secret.h>
#include <sys/random.h>

/* The attributes by which a presence key is found: the vault it belongs to, and its own id. */
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

/* Calls a method of the bus, and returns the first value of its reply, or NULL and an error. */
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

/* Opens the service with this bus name. libsecret 0.20 takes a name here, but later calls use the name in its
   environment variable, so the variable is set, too. This is safe although GLib's thread for the bus may already run,
   because that thread reads no environment. */
static inline SecretService *vault_open_service(const char *name, GError **error) {
    g_setenv("SECRET_SERVICE_BUS_NAME", name, TRUE);
    return secret_service_open_sync(SECRET_TYPE_SERVICE, name, SECRET_SERVICE_OPEN_SESSION, NULL, error);
}

/* Calls that move items between keyrings. They use object paths, because libsecret's own objects would read all
   properties of all items, and ask the bus for the signals of each. */

/* All properties of an interface: a table of names and values. NULL and an error otherwise. */
static inline GVariant *vault_properties(GDBusConnection *bus, const char *owner, const char *path,
                                         const char *interface, GError **error) {
    GVariant *reply = g_dbus_connection_call_sync(
        bus, owner, path, "org.freedesktop.DBus.Properties", "GetAll", g_variant_new("(s)", interface),
        G_VARIANT_TYPE("(a{sv})"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, error);
    if (reply == NULL) return NULL;
    GVariant *table = g_variant_get_child_value(reply, 0);
    g_variant_unref(reply);
    return table;
}

/* The value of a property if it has this type; NULL otherwise. */
static inline GVariant *vault_property(GVariant *table, const char *name, const char *type) {
    return g_variant_lookup_value(table, name, (const GVariantType *)type);
}

/* The paths of a collection's items that have at least these attributes. The attributes stay the caller's. */
static inline GVariant *vault_search(GDBusConnection *bus, const char *owner, const char *collection,
                                     GVariant *attributes, GError **error) {
    GVariant *reply = g_dbus_connection_call_sync(
        bus, owner, collection, "org.freedesktop.Secret.Collection", "SearchItems",
        g_variant_new("(@a{ss})", attributes), G_VARIANT_TYPE("(ao)"), G_DBUS_CALL_FLAGS_NONE, -1, NULL, error);
    if (reply == NULL) return NULL;
    GVariant *paths = g_variant_get_child_value(reply, 0);
    g_variant_unref(reply);
    return paths;
}

static inline GVariantBuilder *vault_attributes_begin(void) {
    return g_variant_builder_new((const GVariantType *)"a{ss}");
}
static inline void vault_attributes_add(GVariantBuilder *builder, const char *key, const char *value) {
    g_variant_builder_add(builder, "{ss}", key, value);
}
static inline GVariant *vault_attributes_end(GVariantBuilder *builder) {
    GVariant *attributes = g_variant_ref_sink(g_variant_builder_end(builder));
    g_variant_builder_unref(builder);
    return attributes;
}

/* Returns 1 if the keyring has unlocked a collection. The keyring may ask a person. */
static inline int vault_unlock(SecretService *service, const char *path, GError **error) {
    const gchar *paths[] = {path, NULL};
    gchar **unlocked = NULL;
    gint count = secret_service_unlock_dbus_paths_sync(service, paths, NULL, &unlocked, error);
    g_strfreev(unlocked);
    return count > 0;
}

static inline void vault_free_value(gpointer value) { g_variant_unref((GVariant *)value); }

static inline GHashTable *vault_table(const char *label_name, const char *label) {
    GHashTable *table = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, vault_free_value);
    g_hash_table_insert(table, (gpointer)label_name, g_variant_ref_sink(g_variant_new_string(label)));
    return table;
}

/* 1 if the keyring has stored a new item. It replaces none. */
static inline int vault_create_item(SecretService *service, const char *collection, const char *label,
                                    GVariant *attributes, SecretValue *value, GError **error) {
    GHashTable *table = vault_table("org.freedesktop.Secret.Item.Label", label);
    g_hash_table_insert(table, (gpointer) "org.freedesktop.Secret.Item.Attributes", g_variant_ref(attributes));
    gchar *path = secret_service_create_item_dbus_path_sync(service, collection, table, value, SECRET_ITEM_CREATE_NONE,
                                                            NULL, error);
    g_hash_table_unref(table);
    int made = path != NULL && *error == NULL;
    g_free(path);
    return made;
}

/* The path of a new collection, which the caller frees; NULL if the keyring made none, because of an error or because
   a person declined. */
static inline gchar *vault_create_collection(SecretService *service, const char *label, const char *alias,
                                             GError **error) {
    GHashTable *table = vault_table("org.freedesktop.Secret.Collection.Label", label);
    gchar *path = secret_service_create_collection_dbus_path_sync(service, table, alias,
                                                                  SECRET_COLLECTION_CREATE_NONE, NULL, error);
    g_hash_table_unref(table);
    return path;
}

static inline int vault_is_among(const char *name, const char *const *names) {
    for (; *names != NULL; names++)
        if (g_str_equal(name, *names)) return 1;
    return 0;
}

/* The meaning of a call's error: 'l' if something is locked, 'g' if there is no such object, 'e' if the keyring has
   ended or does not answer in time; otherwise 0. */
static inline char vault_error_meaning(const GError *error) {
    static const char *const gone[] = {"org.freedesktop.Secret.Error.NoSuchObject",
                                       "org.freedesktop.DBus.Error.UnknownObject",
                                       "org.freedesktop.DBus.Error.UnknownInterface",
                                       "org.freedesktop.DBus.Error.UnknownMethod", NULL};
    static const char *const ended[] = {
        "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
        "org.freedesktop.DBus.Error.NoReply",        "org.freedesktop.DBus.Error.Timeout",
        "org.freedesktop.DBus.Error.TimedOut",       "org.freedesktop.DBus.Error.Disconnected",
        "org.freedesktop.DBus.Error.NoServer",       "org.freedesktop.DBus.Error.NoNetwork", NULL};
    if (g_error_matches(error, SECRET_ERROR, SECRET_ERROR_IS_LOCKED)) return 'l';
    if (g_error_matches(error, SECRET_ERROR, SECRET_ERROR_NO_SUCH_OBJECT)) return 'g';
    if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT) ||
        g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CLOSED) ||
        g_error_matches(error, G_IO_ERROR, G_IO_ERROR_NOT_CONNECTED) ||
        g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED))
        return 'e';
    gchar *name = g_dbus_error_get_remote_error(error);
    if (name == NULL) return 0;
    char meaning = 0;
    if (g_str_equal(name, "org.freedesktop.Secret.Error.IsLocked")) meaning = 'l';
    if (vault_is_among(name, gone)) meaning = 'g';
    if (vault_is_among(name, ended)) meaning = 'e';
    g_free(name);
    return meaning;
}

/* Removes the name of the D-Bus error from the message of a remote error. */
static inline void vault_strip_error(GError *error) { g_dbus_error_strip_remote_error(error); }
