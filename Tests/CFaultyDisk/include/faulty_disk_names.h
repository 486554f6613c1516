#pragma once

/* Tells of each call of this thread's that has synced a file or a directory, or has changed names: link, rename,
 * unlink, mkdir and their kin. `fd` is what was synced, or -1. With NULL it tells no more. */
void faulty_disk_tell(void (*tell)(void *context, int fd), void *context);
