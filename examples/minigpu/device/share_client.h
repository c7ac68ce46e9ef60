/* share_client: a device whose machine is in another process (share_server.h). Programs under `minigpu share` have it.
 * Device memory is shared, so that contents never travel; what travels is PTX, the list of allocations, and launches.
 */
#ifndef MINIGPU_SHARE_CLIENT_H
#define MINIGPU_SHARE_CLIENT_H

#include "device/device_fields.h"

/* Learns the configuration of the machine. Returns 0, or -1 with the reason in error. */
int share_client_open(device *d, char error[LAUNCH_ERROR_BYTES]);
/* Keeps the PTX of a module until the machine has it. Returns 0, or -1: out of memory. */
int share_client_keep(share_texts *texts, uint32_t module, const char *text, size_t length);
/* device_run: lets the machine run what was started. Returns 0, or -1 with the reason in error. */
int share_client_run(device *d, char error[LAUNCH_ERROR_BYTES]);

#endif
