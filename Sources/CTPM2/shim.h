#pragma once
#include <string.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tctildr.h>

/* The structures with unions are filled here, because Swift cannot name their members. */

/* The storage primary key: ECC P-256, as specified by the TCG's EK Credential Profile 2.x (template L-2) and
   Provisioning Guidance for the storage root key. The same template gives the same key until the TPM is cleared. */
static inline TPM2B_PUBLIC vault_tpm2_storage_template(void) {
    TPM2B_PUBLIC t;
    memset(&t, 0, sizeof t);
    t.publicArea.type = TPM2_ALG_ECC;
    t.publicArea.nameAlg = TPM2_ALG_SHA256;
    t.publicArea.objectAttributes = TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_SENSITIVEDATAORIGIN |
                                    TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA | TPMA_OBJECT_RESTRICTED |
                                    TPMA_OBJECT_DECRYPT;
    t.publicArea.parameters.eccDetail.symmetric.algorithm = TPM2_ALG_AES;
    t.publicArea.parameters.eccDetail.symmetric.keyBits.aes = 128;
    t.publicArea.parameters.eccDetail.symmetric.mode.aes = TPM2_ALG_CFB;
    t.publicArea.parameters.eccDetail.scheme.scheme = TPM2_ALG_NULL;
    t.publicArea.parameters.eccDetail.curveID = TPM2_ECC_NIST_P256;
    t.publicArea.parameters.eccDetail.kdf.scheme = TPM2_ALG_NULL;
    t.publicArea.unique.ecc.x.size = 32;
    t.publicArea.unique.ecc.y.size = 32;
    return t;
}

/* Sealed data. Anyone who may use the parent can unseal it, only on this TPM. Failed authorizations for other objects
   do not lock it (TPMA_OBJECT_NODA). */
static inline TPM2B_PUBLIC vault_tpm2_sealed_template(void) {
    TPM2B_PUBLIC t;
    memset(&t, 0, sizeof t);
    t.publicArea.type = TPM2_ALG_KEYEDHASH;
    t.publicArea.nameAlg = TPM2_ALG_SHA256;
    t.publicArea.objectAttributes =
        TPMA_OBJECT_FIXEDTPM | TPMA_OBJECT_FIXEDPARENT | TPMA_OBJECT_USERWITHAUTH | TPMA_OBJECT_NODA;
    t.publicArea.parameters.keyedHashDetail.scheme.scheme = TPM2_ALG_NULL;
    return t;
}

static inline TPMT_SYM_DEF vault_tpm2_aes128_cfb(void) {
    TPMT_SYM_DEF s;
    memset(&s, 0, sizeof s);
    s.algorithm = TPM2_ALG_AES;
    s.keyBits.aes = 128;
    s.mode.aes = TPM2_ALG_CFB;
    return s;
}

/* Sets the data of a new sealed object; returns -1 if the data is too long. Swift would see the array as a tuple. */
static inline int vault_tpm2_set_data(TPM2B_SENSITIVE_CREATE *sensitive, const void *bytes, size_t count) {
    memset(sensitive, 0, sizeof *sensitive);
    if (count > sizeof sensitive->sensitive.data.buffer) return -1;
    memcpy(sensitive->sensitive.data.buffer, bytes, count);
    sensitive->sensitive.data.size = (UINT16)count;
    return 0;
}

static inline const unsigned char *vault_tpm2_data(const TPM2B_SENSITIVE_DATA *data) { return data->buffer; }

/* Swift does not import macros with casts. */
static const ESYS_TR vault_tpm2_none = ESYS_TR_NONE;
static const ESYS_TR vault_tpm2_password = ESYS_TR_PASSWORD;
static const ESYS_TR vault_tpm2_owner = ESYS_TR_RH_OWNER;
static const TPMA_SESSION vault_tpm2_session_attributes =
    TPMA_SESSION_DECRYPT | TPMA_SESSION_ENCRYPT | TPMA_SESSION_CONTINUESESSION;
static const TPM2_SE vault_tpm2_hmac_session = TPM2_SE_HMAC;
static const TPM2_ALG_ID vault_tpm2_sha256 = TPM2_ALG_SHA256;
