#pragma once
#include <gcrypt.h>

/* Starts the library; 0 when it is older than its header. gcry_control takes a variable number of arguments, which Swift
   cannot call. Its secure memory is a pool that it locks into RAM where it may, and wipes as it is given back. */
static inline int vault_gcrypt_start(void) {
    if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) return 1;
    if (!gcry_check_version(GCRYPT_VERSION)) return 0;
    gcry_control(GCRYCTL_DISABLE_SECMEM_WARN);
    gcry_control(GCRYCTL_INIT_SECMEM, 16384, 0);
    gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
    return 1;
}
