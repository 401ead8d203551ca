/*
 * tests/zk/proxy.c: the process between a claim and the server; see zkt_proxy in fixture.h.
 */
#include "tests/zk/fixture.h"

#include <arpa/inet.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PAIRS = 8, CHUNK = 65536 };

typedef struct pair {
    int client, server; /* client -1: free */
    bool trapped;       /* the next answer of the server is the last thing that happens */
} pair;

static pair pairs[PAIRS];

void zkt_proxy_run(int listener, const char *trap);

static int connect_server(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)zkt_port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    MUST(fd >= 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at) == 0) return fd;
    close(fd);
    return -1;
}

static void end_pair(pair *p)
{
    close(p->client);
    close(p->server);
    p->client = -1;
}

static void begin_pair(int listener)
{
    int client = accept(listener, NULL, NULL);
    if (client < 0) return;
    for (pair *p = pairs; p < pairs + PAIRS; p++) {
        if (p->client >= 0) continue;
        int server = connect_server();
        if (server < 0) break;
        *p = (pair){.client = client, .server = server};
        return;
    }
    close(client);
}

static bool send_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
        if (n <= 0) return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

/* Passes on what there is. Requests are small and come in one piece each, on loopback. */
static void pump(pair *p, bool from_client, const char **trap)
{
    static char data[CHUNK];
    ssize_t n = recv(from_client ? p->client : p->server, data, sizeof data, 0);
    if (n <= 0 || (p->trapped && !from_client)) {
        end_pair(p);
        return;
    }
    if (from_client && *trap && memmem(data, (size_t)n, *trap, strlen(*trap))) {
        p->trapped = true;
        *trap = NULL;
    }
    if (!send_all(from_client ? p->server : p->client, data, (size_t)n)) end_pair(p);
}

void zkt_proxy_run(int listener, const char *trap)
{
    for (pair *p = pairs; p < pairs + PAIRS; p++) p->client = -1;
    for (;;) {
        struct pollfd fds[1 + 2 * PAIRS] = {{.fd = listener, .events = POLLIN}};
        for (int i = 0; i < PAIRS; i++) {
            bool open = pairs[i].client >= 0;
            fds[1 + 2 * i] = (struct pollfd){.fd = open ? pairs[i].client : -1, .events = POLLIN};
            fds[2 + 2 * i] = (struct pollfd){.fd = open ? pairs[i].server : -1, .events = POLLIN};
        }
        if (poll(fds, 1 + 2 * PAIRS, -1) < 0) continue;
        for (int i = 0; i < PAIRS; i++) {
            if (fds[1 + 2 * i].revents) pump(&pairs[i], true, &trap);
            if (fds[2 + 2 * i].revents && pairs[i].client >= 0) pump(&pairs[i], false, &trap);
        }
        if (fds[0].revents) begin_pair(listener);
    }
}
