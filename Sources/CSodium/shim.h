#pragma once
#include <sodium.h>
#include <stddef.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* The number of kinds of vector registers to wipe here. On x86-64: 0 without AVX, 1 with AVX, 2 with AVX-512; elsewhere
   1. */
static inline int vault_vector_registers(void) {
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0, enabled = 0, high = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX)) return 0;
    __asm__ volatile("xgetbv" : "=a"(enabled), "=d"(high) : "c"(0));
    if ((enabled & 0x06) != 0x06) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX512F) || (enabled & 0xE6) != 0xE6) return 1;
    return 2;
#else
    return 1;
#endif
}

/* Zeroes the vector registers that a function need not preserve. memcpy moves keys through these registers, and they
   keep the keys until other code uses them; in a thread that waits, that may be never. */
#if defined(__x86_64__)
/* For a processor without AVX. */
static inline void vault_wipe_old_registers(void) {
#define VAULT_WIPE(n) "xorps %%xmm" #n ", %%xmm" #n "\n\t"
    __asm__ volatile(
        VAULT_WIPE(0) VAULT_WIPE(1) VAULT_WIPE(2) VAULT_WIPE(3) VAULT_WIPE(4) VAULT_WIPE(5) VAULT_WIPE(6) VAULT_WIPE(7)
        VAULT_WIPE(8) VAULT_WIPE(9) VAULT_WIPE(10) VAULT_WIPE(11) VAULT_WIPE(12) VAULT_WIPE(13) VAULT_WIPE(14)
        VAULT_WIPE(15)
        ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
        "xmm13", "xmm14", "xmm15");
#undef VAULT_WIPE
}

__attribute__((target("avx"))) static inline void vault_wipe_low_registers(void) {
    __asm__ volatile("vzeroall" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                     "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

__attribute__((target("avx512f"))) static inline void vault_wipe_high_registers(void) {
#define VAULT_WIPE(n) "vpxord %%zmm" #n ", %%zmm" #n ", %%zmm" #n "\n\t"
    __asm__ volatile(
        VAULT_WIPE(16) VAULT_WIPE(17) VAULT_WIPE(18) VAULT_WIPE(19) VAULT_WIPE(20) VAULT_WIPE(21) VAULT_WIPE(22)
        VAULT_WIPE(23) VAULT_WIPE(24) VAULT_WIPE(25) VAULT_WIPE(26) VAULT_WIPE(27) VAULT_WIPE(28) VAULT_WIPE(29)
        VAULT_WIPE(30) VAULT_WIPE(31)
        ::: "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27",
        "xmm28", "xmm29", "xmm30", "xmm31");
#undef VAULT_WIPE
}
#endif

static inline void vault_wipe_vector_registers(int kinds) {
#if defined(__x86_64__)
    if (kinds >= 2) vault_wipe_high_registers();
    if (kinds >= 1) vault_wipe_low_registers(); else vault_wipe_old_registers();
#elif defined(__aarch64__)
    /* A function must preserve the lower halves of v8 to v15. */
    __asm__ volatile(
        "mov v8.d[1], xzr\n\tmov v9.d[1], xzr\n\tmov v10.d[1], xzr\n\tmov v11.d[1], xzr\n\t"
        "mov v12.d[1], xzr\n\tmov v13.d[1], xzr\n\tmov v14.d[1], xzr\n\tmov v15.d[1], xzr\n\t"
        "movi v0.2d, #0\n\tmovi v1.2d, #0\n\tmovi v2.2d, #0\n\tmovi v3.2d, #0\n\t"
        "movi v4.2d, #0\n\tmovi v5.2d, #0\n\tmovi v6.2d, #0\n\tmovi v7.2d, #0\n\t"
        "movi v16.2d, #0\n\tmovi v17.2d, #0\n\tmovi v18.2d, #0\n\tmovi v19.2d, #0\n\t"
        "movi v20.2d, #0\n\tmovi v21.2d, #0\n\tmovi v22.2d, #0\n\tmovi v23.2d, #0\n\t"
        "movi v24.2d, #0\n\tmovi v25.2d, #0\n\tmovi v26.2d, #0\n\tmovi v27.2d, #0\n\t"
        "movi v28.2d, #0\n\tmovi v29.2d, #0\n\tmovi v30.2d, #0\n\tmovi v31.2d, #0"
        ::: "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
        "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30",
        "v31");
#endif
    (void)kinds;
}
