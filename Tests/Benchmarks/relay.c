// The floor that the daemon is measured against: a relay of lines on libevent, structured like the daemon, without
// camera: one log that all subscribers share, a cursor for each, one gather-send per subscriber and turn. It does what
// any server of lines must do: a line that begins with 's' subscribes, one with 'p' is answered, any other is relayed.
//
//   relay SOCKET          relays
//   relay --echo SOCKET   returns each byte of one client, by blocking calls: the bare round trip
#define _GNU_SOURCE
#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

enum { LOG_BYTES = 1 << 20, READ_BYTES = 64 << 10 };

struct client {
    int descriptor;
    struct event *readable;
    struct event *writable;
    int blocked;
    int gone;
    size_t subscriber;  // its place among the subscribers, from 1; 0 if it is none
    uint64_t cursor;    // the first byte of the log that it has not been sent
    struct client *next_gone;
};

static struct event_base *base;
static char history[LOG_BYTES];
static uint64_t history_end;
static struct client **subscribers;
static size_t subscriber_count, subscriber_room;
static struct client *gone;
static int has_news;

static void retire(struct client *client) {
    if (client->gone) return;
    client->gone = 1;
    client->next_gone = gone;
    gone = client;
    if (client->subscriber == 0) return;
    struct client *last = subscribers[--subscriber_count];
    subscribers[client->subscriber - 1] = last;
    last->subscriber = client->subscriber;
}

static void flush(struct client *client) {
    uint64_t left = history_end - client->cursor;
    if (left == 0 || client->blocked || client->gone) return;
    if (left > LOG_BYTES) return retire(client);  // what it misses would begin in the middle of a line
    size_t start = client->cursor % LOG_BYTES;
    size_t first = left < LOG_BYTES - start ? left : LOG_BYTES - start;
    struct iovec pieces[2] = {{history + start, first}, {history, left - first}};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = left > first ? 2 : 1};
    ssize_t sent = sendmsg(client->descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN) return retire(client);
    if (sent > 0) client->cursor += sent;
    if (sent == (ssize_t)left) return;
    client->blocked = 1;
    event_add(client->writable, NULL);
}

static void writable(int descriptor, short what, void *context) {
    struct client *client = context;
    (void)descriptor, (void)what;
    client->blocked = 0;
    flush(client);
}

static void relay(const char *line, size_t length) {
    size_t start = history_end % LOG_BYTES;
    size_t first = length < LOG_BYTES - start ? length : LOG_BYTES - start;
    memcpy(history + start, line, first);
    memcpy(history, line + first, length - first);
    history_end += length;
    has_news = 1;
}

static void answer(struct client *client, const char *text) {
    if (send(client->descriptor, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) retire(client);
}

static void subscribe(struct client *client) {
    if (client->subscriber == 0) {
        if (subscriber_count == subscriber_room) {
            subscriber_room = subscriber_room ? subscriber_room * 2 : 64;
            subscribers = realloc(subscribers, subscriber_room * sizeof *subscribers);
            if (subscribers == NULL) abort();
        }
        subscribers[subscriber_count++] = client;
        client->subscriber = subscriber_count;
    }
    client->cursor = history_end;
    answer(client, "subscribed\n");
}

// Clients that feed the relay write whole lines: it keeps no partial line.
static void readable(int descriptor, short what, void *context) {
    static char buffer[READ_BYTES];
    struct client *client = context;
    (void)what;
    ssize_t count = read(descriptor, buffer, sizeof buffer);
    if (count <= 0) {
        if (count == 0 || errno != EAGAIN) retire(client);
        return;
    }
    for (char *line = buffer, *end = buffer + count; line < end && !client->gone;) {
        char *newline = memchr(line, '\n', end - line);
        char *next = newline ? newline + 1 : end;
        if (*line == 's') subscribe(client);
        else if (*line == 'p') answer(client, "pong\n");
        else relay(line, next - line);
        line = next;
    }
}

static void accepted(
    struct evconnlistener *listener, int descriptor, struct sockaddr *address, int size, void *context) {
    (void)listener, (void)address, (void)size, (void)context;
    struct client *client = calloc(1, sizeof *client);
    if (client == NULL) abort();
    client->descriptor = descriptor;
    client->readable = event_new(base, descriptor, EV_READ | EV_PERSIST, readable, client);
    client->writable = event_new(base, descriptor, EV_WRITE, writable, client);
    event_add(client->readable, NULL);
}

static void end_turn(void) {
    if (has_news) {
        // From the last: one that is retired here is replaced by one that has already been served.
        for (size_t index = subscriber_count; index > 0; index--) flush(subscribers[index - 1]);
    }
    has_news = 0;
    while (gone != NULL) {
        struct client *client = gone;
        gone = client->next_gone;
        event_free(client->readable);
        event_free(client->writable);
        close(client->descriptor);
        free(client);
    }
}

static int listen_at(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0
        || listen(descriptor, 4096) < 0) {
        perror(path);
        exit(1);
    }
    return descriptor;
}

static int echo(const char *path) {
    int client = accept(listen_at(path), NULL, NULL);
    char buffer[READ_BYTES];
    for (;;) {
        ssize_t count = read(client, buffer, sizeof buffer);
        if (count <= 0 || write(client, buffer, count) != count) return 0;
    }
}

int main(int count, char **arguments) {
    if (count == 3 && strcmp(arguments[1], "--echo") == 0) return echo(arguments[2]);
    if (count != 2) {
        fprintf(stderr, "usage: relay [--echo] SOCKET\n");
        return 64;
    }
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    struct event_config *config = event_config_new();
    event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
    base = event_base_new_with_config(config);
    int descriptor = listen_at(arguments[1]);
    evutil_make_socket_nonblocking(descriptor);
    if (evconnlistener_new(base, accepted, NULL, LEV_OPT_CLOSE_ON_EXEC, 0, descriptor) == NULL) return 71;
    while (event_base_loop(base, EVLOOP_ONCE) == 0) end_turn();
    return 0;
}
