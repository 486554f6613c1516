/* sign SECONDS BYTES: Ed25519 signatures of a message of BYTES bytes by libsodium's crypto_sign_detached, one after the
 * other. Prints one JSON object: signatures per second. */
#include "wire.h"
#include <sodium.h>

int main(int argc, char **argv) {
    if (argc != 3) return 64;
    double seconds = strtod(argv[1], NULL);
    size_t count = strtoul(argv[2], NULL, 10);
    unsigned char public[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES], signature[crypto_sign_BYTES];
    unsigned char *message = calloc(count + 1, 1);
    if (message == NULL || sodium_init() < 0 || crypto_sign_keypair(public, secret) != 0) return 70;
    size_t made = 0;
    double began = now(), end = began;
    while (end - began < seconds) {
        message[made % (count + 1)]++;
        if (crypto_sign_detached(signature, NULL, message, count, secret) != 0) return 70;
        made++;
        end = now();
    }
    printf("{\"total\": %.1f}\n", made / (end - began));
    return 0;
}
