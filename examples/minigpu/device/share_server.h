/* share_server: one machine that several programs use (minigpu share). Each program is a process with a device of its
 * own (share_client.h), and waits while its kernels run.
 *
 * The server works in rounds: when every program either waits for kernels or has ended, the kernels of all programs
 * that wait run together, until all of them have ended. */
#ifndef MINIGPU_SHARE_SERVER_H
#define MINIGPU_SHARE_SERVER_H

#include "device/device.h"
#include "device/share_message.h"

#define SHARE_PROGRAMS_MAX 8u

/* What a program has done so far. */
typedef struct share_counts {
    uint64_t launches;  /* of kernels */
    uint64_t rounds;    /* in which its kernels ran */
    uint64_t end_cycle; /* of its last kernel */
} share_counts;

typedef struct share_server share_server;

/* Opens a machine that programs share. options must outlive the server, which sets options->share. NULL with the reason
 * in error. */
share_server *share_server_open(device_options *options, char error[LAUNCH_ERROR_BYTES]);
/* The descriptor of the memory that the programs map. */
int share_server_memory(const share_server *s);
/* Adds a program, which writes to the other end of the socket; the server closes its own. Returns the part of the
 * memory that the program allocates from, or NONE: there are SHARE_PROGRAMS_MAX already. */
uint32_t share_server_add(share_server *s, int socket);
/* Serves until every program has closed its socket. Returns 0, or -1: some kernel has failed. */
int share_server_run(share_server *s);
const share_counts *share_server_counts(const share_server *s, uint32_t part);
/* Rounds in which kernels of two or more programs ran. */
uint64_t share_server_common_rounds(const share_server *s);
void share_server_close(share_server *s);

#endif
