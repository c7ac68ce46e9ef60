/* share_message: bytes of any kind in a row, between a program and the process that has its machine. Both are one build
 * on one computer, so structs travel as they lie in memory. */
#ifndef MINIGPU_SHARE_MESSAGE_H
#define MINIGPU_SHARE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

typedef struct share_message {
    uint8_t *bytes;
    size_t count, capacity, at; /* at: the first byte not yet taken */
    int failed;                 /* 1: memory was out, or more was taken than there is */
} share_message;

/* Appends bytes. */
void share_put(share_message *m, const void *bytes, size_t count);
void share_put_u32(share_message *m, uint32_t value);
void share_put_u64(share_message *m, uint64_t value);
/* Appends a text with its length. */
void share_put_text(share_message *m, const char *text);
/* Takes the next bytes; zeros when there are not so many. */
void share_take(share_message *m, void *bytes, size_t count);
uint32_t share_take_u32(share_message *m);
uint64_t share_take_u64(share_message *m);
/* Takes a text that stays in the message; "" when there is none. */
const char *share_take_text(share_message *m);
/* Sends a message. Returns 0, or -1 when the other process has ended. */
int share_send(int socket, const share_message *m);
/* Waits for a message, which replaces *m. Returns 0, or -1 when the other process has ended. */
int share_receive(int socket, share_message *m);
void share_message_free(share_message *m);

#endif
