#include "device/share_message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#define MESSAGE_BYTES_MAX (UINT64_C(1) << 30)

static int make_room(share_message *m, size_t count) {
    const size_t needed = m->count + count, capacity = needed < 4096 ? 4096 : needed * 2;
    uint8_t *grown;
    if (needed <= m->capacity) return 0;
    if (!(grown = (uint8_t *)realloc(m->bytes, capacity))) {
        m->failed = 1;
        return -1;
    }
    m->bytes = grown;
    m->capacity = capacity;
    return 0;
}

void share_put(share_message *m, const void *bytes, size_t count) {
    if (!count || make_room(m, count)) return;
    memcpy(m->bytes + m->count, bytes, count);
    m->count += count;
}
void share_put_u32(share_message *m, uint32_t value) { share_put(m, &value, sizeof value); }
void share_put_u64(share_message *m, uint64_t value) { share_put(m, &value, sizeof value); }
void share_put_text(share_message *m, const char *text) {
    const uint32_t bytes = (uint32_t)strlen(text) + 1u;
    share_put_u32(m, bytes);
    share_put(m, text, bytes);
}

void share_take(share_message *m, void *bytes, size_t count) {
    memset(bytes, 0, count);
    if (count > m->count - m->at) {
        m->failed = 1;
        return;
    }
    if (count) memcpy(bytes, m->bytes + m->at, count);
    m->at += count;
}
uint32_t share_take_u32(share_message *m) {
    uint32_t value;
    share_take(m, &value, sizeof value);
    return value;
}
uint64_t share_take_u64(share_message *m) {
    uint64_t value;
    share_take(m, &value, sizeof value);
    return value;
}
const char *share_take_text(share_message *m) {
    const uint32_t bytes = share_take_u32(m);
    const char *text = (const char *)m->bytes + m->at;
    if (!bytes || bytes > m->count - m->at || text[bytes - 1]) {
        m->failed = 1;
        return "";
    }
    m->at += bytes;
    return text;
}

static int send_bytes(int socket, const uint8_t *bytes, size_t count) {
    while (count) {
        const ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return -1;
        bytes += sent;
        count -= (size_t)sent;
    }
    return 0;
}

static int receive_bytes(int socket, uint8_t *bytes, size_t count) {
    while (count) {
        const ssize_t had = recv(socket, bytes, count, 0);
        if (had < 0 && errno == EINTR) continue;
        if (had <= 0) return -1;
        bytes += had;
        count -= (size_t)had;
    }
    return 0;
}

int share_send(int socket, const share_message *m) {
    const uint64_t count = m->count;
    if (m->failed || send_bytes(socket, (const uint8_t *)&count, sizeof count)) return -1;
    return send_bytes(socket, m->bytes, m->count);
}

int share_receive(int socket, share_message *m) {
    uint64_t count = 0;
    m->count = m->at = 0;
    m->failed = 0;
    if (receive_bytes(socket, (uint8_t *)&count, sizeof count) || count > MESSAGE_BYTES_MAX) return -1;
    if (make_room(m, count) || receive_bytes(socket, m->bytes, count)) return -1;
    m->count = count;
    return 0;
}

void share_message_free(share_message *m) {
    free(m->bytes);
    memset(m, 0, sizeof *m);
}
