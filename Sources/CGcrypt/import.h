#pragma once
#include <gcrypt.h>

/* The functions of libgcrypt that vault-import needs for encrypted files, each as one call that opens and closes its
   own handle. They return 0, or libgcrypt's error; after an error, the output means nothing. vault_gcrypt_start must
   have been called. */

/* The SHA-256 digest of a message. */
static inline void vault_import_sha256(const void *message, size_t count, unsigned char digest[32]) {
    gcry_md_hash_buffer(GCRY_MD_SHA256, digest, message, count);
}

/* HMAC-SHA-256 (RFC 2104) of two parts, one after the other. */
static inline gcry_error_t vault_import_hmac_sha256(const void *key, size_t key_count, const void *first,
                                                    size_t first_count, const void *second, size_t second_count,
                                                    unsigned char mac[32]) {
    gcry_mac_hd_t handle;
    size_t mac_count = 32;
    gcry_error_t error = gcry_mac_open(&handle, GCRY_MAC_HMAC_SHA256, 0, NULL);
    if (error) return error;
    error = gcry_mac_setkey(handle, key, key_count);
    if (!error) error = gcry_mac_write(handle, first, first_count);
    if (!error) error = gcry_mac_write(handle, second, second_count);
    if (!error) error = gcry_mac_read(handle, mac, &mac_count);
    gcry_mac_close(handle);
    return error;
}

/* PBKDF2 with HMAC-SHA-256 (RFC 8018, section 5.2). */
static inline gcry_error_t vault_import_pbkdf2_sha256(const void *password, size_t password_count, const void *salt,
                                                      size_t salt_count, unsigned long iterations,
                                                      unsigned char key[32]) {
    return gcry_kdf_derive(password, password_count, GCRY_KDF_PBKDF2, GCRY_MD_SHA256, salt, salt_count, iterations, 32,
                           key);
}

/* The same with a key of any size. */
static inline gcry_error_t vault_import_pbkdf2_sha256_long(const void *password, size_t password_count,
                                                           const void *salt, size_t salt_count,
                                                           unsigned long iterations, void *key, size_t key_count) {
    return gcry_kdf_derive(password, password_count, GCRY_KDF_PBKDF2, GCRY_MD_SHA256, salt, salt_count, iterations,
                           key_count, key);
}

/* Argon2id (RFC 9106), version 0x13. libgcrypt computes the lanes one after another if it gets no threads. */
static inline gcry_error_t vault_import_argon2id(const void *password, size_t password_count, const void *salt,
                                                 size_t salt_count, unsigned long kibibytes, unsigned long passes,
                                                 unsigned long lanes, unsigned char key[32]) {
    const unsigned long parameters[4] = {32, passes, kibibytes, lanes};
    gcry_kdf_hd_t handle;
    gcry_error_t error = gcry_kdf_open(&handle, GCRY_KDF_ARGON2, GCRY_KDF_ARGON2ID, parameters, 4, password,
                                       password_count, salt, salt_count, NULL, 0, NULL, 0);
    if (error) return error;
    error = gcry_kdf_compute(handle, NULL);
    if (!error) error = gcry_kdf_final(handle, 32, key);
    gcry_kdf_close(handle);
    return error;
}

/* AES-256-CBC (NIST SP 800-38A) without padding, in place; the count is a multiple of 16. */
static inline gcry_error_t vault_import_aes256_cbc_decrypt(const unsigned char key[32], const unsigned char vector[16],
                                                           void *bytes, size_t count) {
    gcry_cipher_hd_t handle;
    gcry_error_t error = gcry_cipher_open(&handle, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_CBC, 0);
    if (error) return error;
    error = gcry_cipher_setkey(handle, key, 32);
    if (!error) error = gcry_cipher_setiv(handle, vector, 16);
    if (!error) error = gcry_cipher_decrypt(handle, bytes, count, NULL, 0);
    gcry_cipher_close(handle);
    return error;
}

/* AES-256-CTR (NIST SP 800-38A) with a counter that begins with 16 bytes, in place. */
static inline gcry_error_t vault_import_aes256_ctr(const unsigned char key[32], const unsigned char counter[16],
                                                   void *bytes, size_t count) {
    gcry_cipher_hd_t handle;
    gcry_error_t error = gcry_cipher_open(&handle, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_CTR, 0);
    if (error) return error;
    error = gcry_cipher_setkey(handle, key, 32);
    if (!error) error = gcry_cipher_setctr(handle, counter, 16);
    if (!error) error = gcry_cipher_decrypt(handle, bytes, count, NULL, 0);
    gcry_cipher_close(handle);
    return error;
}

/* PBKDF2 with HMAC-SHA-1 (RFC 8018, section 5.2). */
static inline gcry_error_t vault_import_pbkdf2_sha1(const void *password, size_t password_count, const void *salt,
                                                    size_t salt_count, unsigned long iterations,
                                                    unsigned char key[32]) {
    return gcry_kdf_derive(password, password_count, GCRY_KDF_PBKDF2, GCRY_MD_SHA1, salt, salt_count, iterations, 32,
                           key);
}

/* scrypt (RFC 7914) with r = 8, which is the only block size that libgcrypt has. The cost is a power of two. */
static inline gcry_error_t vault_import_scrypt(const void *password, size_t password_count, const void *salt,
                                               size_t salt_count, int cost, unsigned long lanes,
                                               unsigned char key[32]) {
    return gcry_kdf_derive(password, password_count, GCRY_KDF_SCRYPT, cost, salt, salt_count, lanes, 32, key);
}

/* AES-256-GCM (NIST SP 800-38D) without additional data, in place. A wrong tag of 16 bytes gives GPG_ERR_CHECKSUM. */
static inline gcry_error_t vault_import_aes256_gcm_decrypt(const unsigned char key[32], const void *nonce,
                                                           size_t nonce_count, void *bytes, size_t count,
                                                           const unsigned char tag[16]) {
    gcry_cipher_hd_t handle;
    gcry_error_t error = gcry_cipher_open(&handle, GCRY_CIPHER_AES256, GCRY_CIPHER_MODE_GCM, 0);
    if (error) return error;
    error = gcry_cipher_setkey(handle, key, 32);
    if (!error) error = gcry_cipher_setiv(handle, nonce, nonce_count);
    if (!error) error = gcry_cipher_final(handle);
    if (!error && count) error = gcry_cipher_decrypt(handle, bytes, count, NULL, 0);
    if (!error) error = gcry_cipher_checktag(handle, tag, 16);
    gcry_cipher_close(handle);
    return error;
}

/* True for the error of a wrong tag. */
static inline int vault_import_is_wrong_tag(gcry_error_t error) { return gcry_err_code(error) == GPG_ERR_CHECKSUM; }
