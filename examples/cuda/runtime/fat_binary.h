/* fat_binary: the PTX in what a compiler embeds into a host program. */
#ifndef MINIGPU_FAT_BINARY_H
#define MINIGPU_FAT_BINARY_H

/* Returns the text of the PTX (free it), or NULL with the reason in error (LAUNCH_ERROR_BYTES). data: PTX text that a 0
 * ends, as clang embeds it, or nvcc's container with plain or compressed entries, of which the one for the latest
 * architecture is taken. */
char *fat_binary_ptx(const void *data, char *error);

#endif
