/* get SOCKET NAME: the least a client can be. Asks for one item as a whole process, prints its value, exits. */
#include "wire.h"

int main(int argc, char **argv) {
    if (argc != 3) return 64;
    static char buffer[65536];
    int size = snprintf(buffer, sizeof buffer, "{\"method\":\"io.vaultd.Vault.Get\",\"parameters\":{\"name\":\"%s\"}}",
                        argv[2]);
    int fd = dial(argv[1]);
    send_all(fd, buffer, size + 1);
    receive(fd, buffer, sizeof buffer);
    char *value = strstr(buffer, "\"value\":\"");
    if (value == NULL) { fprintf(stderr, "bench: %s\n", buffer); return 1; }
    value += strlen("\"value\":\"");
    size_t count = strcspn(value, "\"");
    return fwrite(value, 1, count, stdout) != count;
}
