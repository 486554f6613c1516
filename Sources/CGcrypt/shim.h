#pragma once
#include <gcrypt.h>
#include <string.h>
#include <sys/mman.h>

/* The pool of secure memory in bytes. An operation with an RSA key of 8192 bits takes some 60 KiB of it; when the pool
   is full, libgcrypt uses memory that it does not lock. */
#define VAULT_GCRYPT_POOL (192 << 10)

/* Starts libgcrypt; returns 0 if the library is older than its header. This is C because Swift cannot call
   gcry_control, which takes a variable number of arguments. libgcrypt locks its pool of secure memory into RAM if it
   may, and wipes each part when the part is freed. */
static inline int vault_gcrypt_start(void) {
    if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) return 1;
    if (!gcry_check_version(GCRYPT_VERSION)) return 0;
    gcry_control(GCRYCTL_DISABLE_SECMEM_WARN);
    gcry_control(GCRYCTL_INIT_SECMEM, VAULT_GCRYPT_POOL, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return 1;
}

/* Returns 1 if the pool is locked into RAM. Call this while the pool is empty. Since the warning is disabled, libgcrypt
   does not report a failed mlock(2), so this function locks a piece of the pool again. If the pool is locked, the
   second lock needs no room under RLIMIT_MEMLOCK and succeeds; if not, the lock fails unless the limit has room for the
   piece. So the piece is almost the whole pool. */
static inline int vault_gcrypt_locked(void) {
    size_t count = VAULT_GCRYPT_POOL / 8 * 7;
    void *piece = gcry_malloc_secure(count);
    if (!piece) return 0;
    int locked = mlock(piece, count) == 0;
    gcry_free(piece);
    return locked;
}

/* Makes a number in secure memory. libgcrypt puts a number into the kind of memory from which it reads the bytes.
   Returns NULL if there is no memory. */
static inline gcry_mpi_t vault_secret_number(const void *bytes, size_t count) {
    gcry_mpi_t number = NULL;
    void *copy = gcry_malloc_secure(count ? count : 1);
    if (!copy) return NULL;
    if (count) memcpy(copy, bytes, count);
    gcry_mpi_scan(&number, GCRYMPI_FMT_USG, copy, count, NULL);
    gcry_free(copy);
    return number;
}

/* The secret number after a token of one letter. libgcrypt copies the token's list into ordinary memory, and would also
   put a number read from there into ordinary memory. So the number is read from a copy in secure memory, and its digits
   in the list are wiped. */
static inline gcry_mpi_t vault_secret_part(gcry_sexp_t expression, const char *name) {
    gcry_sexp_t list = gcry_sexp_find_token(expression, name, 1);
    if (!list) return NULL;
    size_t count = 0;
    const char *digits = gcry_sexp_nth_data(list, 1, &count);
    gcry_mpi_t number = digits ? vault_secret_number(digits, count) : NULL;
    if (digits) explicit_bzero((void *)digits, count);
    gcry_sexp_release(list);
    return number;
}

/* The expressions for keys, messages and signatures. An expression lies in secure memory if one of its numbers does. */
static inline gcry_error_t vault_rsa_secret_key(gcry_sexp_t *out, gcry_mpi_t n, gcry_mpi_t e, gcry_mpi_t d,
                                                gcry_mpi_t p, gcry_mpi_t q, gcry_mpi_t u) {
    return gcry_sexp_build(out, NULL, "(private-key(rsa(n%m)(e%m)(d%m)(p%m)(q%m)(u%m)))", n, e, d, p, q, u);
}

static inline gcry_error_t vault_rsa_public_key(gcry_sexp_t *out, const void *n, int n_count, const void *e,
                                                int e_count) {
    return gcry_sexp_build(out, NULL, "(public-key(rsa(n%b)(e%b)))", n_count, n, e_count, e);
}

static inline gcry_error_t vault_ec_secret_key(gcry_sexp_t *out, const char *curve, gcry_mpi_t d) {
    return gcry_sexp_build(out, NULL, "(private-key(ecc(curve %s)(d%m)))", curve, d);
}

static inline gcry_error_t vault_ec_public_key(gcry_sexp_t *out, const char *curve, const void *q, int count) {
    return gcry_sexp_build(out, NULL, "(public-key(ecc(curve %s)(q%b)))", curve, count, q);
}

static inline gcry_error_t vault_ecdsa_message(gcry_sexp_t *out, const char *hash, const void *digest, int count) {
    return gcry_sexp_build(out, NULL, "(data(flags rfc6979)(hash %s %b))", hash, count, digest);
}

static inline gcry_error_t vault_pkcs1_message(gcry_sexp_t *out, const char *hash, const void *digest, int count) {
    return gcry_sexp_build(out, NULL, "(data(flags pkcs1)(hash %s %b))", hash, count, digest);
}

/* The salt has as many bytes as the digest. */
static inline gcry_error_t vault_pss_message(gcry_sexp_t *out, const char *hash, const void *digest, int count) {
    return gcry_sexp_build(out, NULL, "(data(flags pss)(hash %s %b)(salt-length %d))", hash, count, digest, count);
}

static inline gcry_error_t vault_ecdsa_signature(gcry_sexp_t *out, const void *r, const void *s, int count) {
    return gcry_sexp_build(out, NULL, "(sig-val(ecdsa(r%b)(s%b)))", count, r, count, s);
}

static inline gcry_error_t vault_rsa_signature(gcry_sexp_t *out, const void *s, int count) {
    return gcry_sexp_build(out, NULL, "(sig-val(rsa(s%b)))", count, s);
}

/* The parameters of a new RSA key. */
static inline gcry_error_t vault_rsa_order(gcry_sexp_t *out, int bits) {
    return gcry_sexp_build(out, NULL, "(genkey(rsa(nbits %d)(rsa-use-e 5:65537)))", bits);
}

#include "import.h"
