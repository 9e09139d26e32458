// Neighbours of a quiet client, as unpleasant as clients can be, and the quiet client that is measured beside them.
//
//   neighbours [-n COUNT] KIND SOCKET      until standard input ends; `neighbours list` names the kinds
//   neighbours quiet REQUESTS MICROSECONDS SOCKET
//
// A neighbour sends the text of its kind as fast as the daemon reads it, and reads the output unless its kind does not.
// The quiet client moves a finger on its own camera once per MICROSECONDS and waits for the event; it prints one line
// of JSON with the percentiles of that latency, in microseconds. Where permitted, it has priority over its neighbours
// on their processor, so that only the daemon keeps it waiting.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST = 4 << 20, FRAME = 64, CAMERAS = 240 };

struct connection {
    int descriptor;
    int number;
    char *text;
    size_t length, position;
};

static const char *path;
static char epoch[65];

static void fail(const char *what) {
    fprintf(stderr, "neighbours: %s: %s\n", what, strerror(errno));
    exit(1);
}

// MARK: The neighbours' text

struct text {
    char *bytes;
    size_t length;
};

static void add(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text->length += vsnprintf(text->bytes + text->length, LARGEST - text->length, format, arguments);
    va_end(arguments);
    if (text->length >= LARGEST - 1) {
        fprintf(stderr, "neighbours: a text is too long\n");
        exit(1);
    }
}

static void add_pan(struct text *text, const char *camera, int number, int label, int x) {
    add(text, "{\"type\":\"pan\",\"phase\":\"changed\",\"camera\":\"%s%d\",\"gesture\":%d,"
              "\"focus\":{\"x\":200,\"y\":300},\"translation\":{\"x\":%d,\"y\":%d}}",
        camera, number, label, x % 97, x % 89);
}

static void lines(struct text *text, int number) {
    for (int i = 0; i < 1000; i++) {
        add_pan(text, "n", number, 0, i);
        add(text, "\n");
    }
}

static void long_lines(struct text *text, int number) {
    for (int i = 0; i < 8; i++) {
        add(text, "{\"type\":\"stop\",\"camera\":\"n%d\",\"x\":\"", number);
        for (int j = 0; j < 65000; j++) text->bytes[text->length++] = 'x';
        add(text, "\"}\n");
    }
}

static void errors(struct text *text, int number) {
    (void)number;
    for (int i = 0; i < 1000; i++) add(text, "{\"type\":\"pinch\",\"id\":%d,\"phase\":\"changed\",\"scale\":-1}\n", i);
}

static void error_frames(struct text *text, int number) {
    (void)number;
    for (int i = 0; i < 30; i++) {
        for (int j = 0; j < FRAME; j++) add(text, "%c{\"type\":\"swipe\",\"id\":%d}", j ? ',' : '[', j);
        add(text, "]\n");
    }
}

static void pings(struct text *text, int number) {
    (void)number;
    for (int i = 0; i < 1000; i++) add(text, "{\"type\":\"ping\",\"id\":%d}\n", i);
}

static void subscribing(struct text *text, int number) {
    (void)number;
    for (int i = 0; i < 500; i++) {
        add(text, "{\"type\":\"subscribe\",\"camera\":\"s%d\"}\n", i % CAMERAS);
        add(text, "{\"type\":\"unsubscribe\",\"camera\":\"s%d\"}\n", i % CAMERAS);
    }
}

// Recorders of cameras that never rest, beside fingers that move other cameras.
static void recorders(struct text *text, int number) {
    for (int i = 0; i < CAMERAS; i++) {
        if (number == 0) {
            add(text, "{\"type\":\"animate\",\"camera\":\"a%d\",\"durationMs\":3600000,"
                      "\"update\":{\"kind\":\"zoom-to\",\"zoom\":20}}\n", i);
        }
        add(text, "{\"type\":\"subscribe\",\"camera\":\"a%d\",\"events\":[\"gesture\"]}\n", i);
        add_pan(text, "n", number % 8, 0, i);
        add(text, "\n");
    }
}

static void made_and_removed(struct text *text, int number) {
    for (int i = 0; i < 500; i++) {
        add(text, "{\"type\":\"move\",\"camera\":\"r%d\",\"update\":{\"kind\":\"zoom-in\"}}\n", number % 8);
        add(text, "{\"type\":\"remove-camera\",\"camera\":\"r%d\"}\n", number % 8);
    }
}

static void replays(struct text *text, int number) {
    add(text, "{\"type\":\"trace\",\"version\":1,\"speed\":\"max\",\"camera\":\"t%d\"}\n", number);
    for (int i = 0; i < 200; i++) {
        add(text, "{\"type\":\"animate\",\"timeMs\":%d,\"durationMs\":3000,"
                  "\"update\":{\"kind\":\"zoom-to\",\"zoom\":%d}}\n", i * 5000, 3 + i % 10);
    }
    add(text, "{\"type\":\"trace-end\"}\n");
}

static void history(struct text *text, int number) {
    (void)number;
    for (int i = 0; i < 50; i++) {
        add(text, "{\"type\":\"subscribe\",\"camera\":\"h0\",\"since\":{\"seq\":0,\"epoch\":\"%s\"}}\n", epoch);
    }
}

static void gesture_frames(struct text *text, int number) {
    for (int i = 0; i < 30; i++) {
        for (int j = 0; j < FRAME; j++) {
            add(text, j ? "," : "[");
            add_pan(text, "n", number, j, i);
        }
        add(text, "]\n");
    }
}

static void subscribe_frames(struct text *text, int number) {
    for (int i = 0; i < 30; i++) {
        for (int j = 0; j < FRAME; j++) {
            add(text, "%c{\"type\":\"subscribe\",\"camera\":\"s%d\"}", j ? ',' : '[', (i * 7 + j + number) % CAMERAS);
        }
        add(text, "]\n");
    }
}

static void setting_frames(struct text *text, int number) {
    for (int i = 0; i < 30; i++) {
        for (int j = 0; j < FRAME; j++) {
            add(text, "%c{\"type\":\"set-zoom-range\",\"camera\":\"n%d\",\"minZoom\":%d}", j ? ',' : '[', number, 2 + j % 9);
        }
        add(text, "]\n");
    }
}

static void name_frames(struct text *text, int number) {
    (void)number;
    for (int i = 0; i < 30; i++) {
        for (int j = 0; j < FRAME; j++) add(text, "%c{\"type\":\"cameras\"}", j ? ',' : '[');
        add(text, "]\n");
    }
}

static void animations(struct text *text, int number) {
    for (int i = 0; i < CAMERAS; i++) {
        add(text, "{\"type\":\"animate\",\"camera\":\"a%d\",\"durationMs\":3600000,"
                  "\"update\":{\"kind\":\"zoom-to\",\"zoom\":%d}}\n", i, 3 + (i + number) % 16);
    }
}

static const struct kind {
    const char *name;
    void (*write)(struct text *, int);
    int reads, bytewise, connects, needs_history, needs_cameras;
} kinds[] = {
    {.name = "lines", .write = lines, .reads = 1},
    {.name = "long lines", .write = long_lines, .reads = 1},
    {.name = "errors", .write = errors, .reads = 1},
    {.name = "frames of errors", .write = error_frames, .reads = 1},
    {.name = "single bytes", .write = lines, .reads = 1, .bytewise = 1},
    {.name = "pings, unread", .write = pings},
    {.name = "subscribe, unsubscribe", .write = subscribing, .reads = 1, .needs_cameras = 1},
    {.name = "waiting recorders", .write = recorders, .reads = 1},
    {.name = "cameras made, removed", .write = made_and_removed, .reads = 1},
    {.name = "replays at max", .write = replays, .reads = 1},
    {.name = "since", .write = history, .reads = 1, .needs_history = 1},
    {.name = "frames of 64 gestures", .write = gesture_frames, .reads = 1},
    {.name = "frames of subscribes", .write = subscribe_frames, .reads = 1, .needs_cameras = 1},
    {.name = "frames of settings", .write = setting_frames, .reads = 1},
    {.name = "frames of cameras", .write = name_frames, .reads = 1, .needs_cameras = 1},
    {.name = "240 animations", .write = animations, .reads = 1},
    {.name = "connect, close", .connects = 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

// MARK: Connections

static int open_connection(int flags) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (descriptor < 0) fail("socket");
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

// Sends text and reads until a number of bytes or a word has arrived; leaves what arrived in `answer`.
static void exchange(int descriptor, const char *text, const char *word, char *answer, size_t room) {
    for (size_t sent = 0; sent < strlen(text);) {
        ssize_t count = write(descriptor, text + sent, strlen(text) - sent);
        if (count < 0) fail("write");
        sent += count;
    }
    size_t length = 0;
    do {
        ssize_t count = read(descriptor, answer + length, room - 1 - length);
        if (count <= 0) fail("read");
        length += count;
        answer[length] = 0;
        if (length == room - 1 && !strstr(answer, word)) length = 0;
    } while (!strstr(answer, word));
}

// Fills the history that `since` refers to, or makes cameras for others to use.
static void prepare(const struct kind *kind) {
    int descriptor = open_connection(0);
    if (descriptor < 0) fail("connect");
    struct text text = {.bytes = malloc(LARGEST)};
    char answer[4096];
    if (kind->needs_history) {
        add(&text, "{\"type\":\"subscribe\",\"camera\":\"h0\",\"events\":[]}\n");
        exchange(descriptor, text.bytes, "\"epoch\"", answer, sizeof answer);
        sscanf(strstr(answer, "\"epoch\":\"") + 9, "%64[^\"]", epoch);
        text.length = 0;
        for (int i = 0; i < 5000; i++) {
            add_pan(&text, "h", 0, 0, i);
            add(&text, "\n");
        }
    } else {
        for (int i = 0; i < CAMERAS; i++) add(&text, "{\"type\":\"get-camera\",\"camera\":\"s%d\"}\n", i);
    }
    add(&text, "{\"type\":\"ping\",\"id\":\"ready\"}\n");
    exchange(descriptor, text.bytes, "\"ready\"", answer, sizeof answer);
    free(text.bytes);
    close(descriptor);
}

static void connect_and_close(void) {
    fcntl(0, F_SETFL, O_NONBLOCK);
    char byte;
    uint64_t made = 0;
    while (made % 64 || read(0, &byte, 1) != 0) {
        int descriptor = open_connection(SOCK_NONBLOCK);
        if (descriptor >= 0) close(descriptor);
        made++;
    }
}

static void drain(int descriptor) {
    static char buffer[256 << 10];
    for (int i = 0; i < 16; i++) {
        ssize_t count = recv(descriptor, buffer, sizeof buffer, MSG_DONTWAIT);
        if (count == 0) fail("the daemon closed a connection");
        if (count < (ssize_t)sizeof buffer) return;
    }
}

static void push(struct connection *connection, int bytewise) {
    for (int i = 0; i < 16; i++) {
        size_t length = bytewise ? 1 : connection->length - connection->position;
        ssize_t count = send(connection->descriptor, connection->text + connection->position, length,
                             MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0) return;
        connection->position = (connection->position + count) % connection->length;
    }
}

static void bother(const struct kind *kind, int count) {
    if (kind->needs_history || kind->needs_cameras) prepare(kind);
    if (kind->connects) return connect_and_close();
    int poll_descriptor = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event input = {.events = EPOLLIN};
    if (epoll_ctl(poll_descriptor, EPOLL_CTL_ADD, 0, &input) < 0) fail("epoll_ctl");
    struct connection *connections = calloc(count, sizeof *connections);
    for (int i = 0; i < count; i++) {
        struct text text = {.bytes = malloc(LARGEST)};
        kind->write(&text, i);
        connections[i] = (struct connection){open_connection(0), i, text.bytes, text.length, 0};
        if (connections[i].descriptor < 0) fail("connect");
        struct epoll_event event = {.events = EPOLLOUT | (kind->reads ? EPOLLIN : 0), .data.ptr = &connections[i]};
        if (epoll_ctl(poll_descriptor, EPOLL_CTL_ADD, connections[i].descriptor, &event) < 0) fail("epoll_ctl");
    }
    while (1) {
        struct epoll_event events[64];
        int ready = epoll_wait(poll_descriptor, events, 64, -1);
        for (int i = 0; i < ready; i++) {
            if (!events[i].data.ptr) return;
            struct connection *connection = events[i].data.ptr;
            if (events[i].events & EPOLLIN) drain(connection->descriptor);
            if (events[i].events & EPOLLOUT) push(connection, kind->bytewise);
        }
    }
}

// MARK: The quiet client

static double microseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static int by_size(const void *one, const void *other) {
    double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static void be_quiet(int count, double pause) {
    struct sched_param priority = {.sched_priority = 1};
    int is_ahead = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
    int descriptor = open_connection(0);
    if (descriptor < 0) fail("connect");
    char text[256], answer[65536];
    exchange(descriptor, "{\"type\":\"subscribe\",\"camera\":\"quiet\"}\n", "\n", answer, sizeof answer);
    double *times = calloc(count, sizeof *times);
    for (int i = 0; i < count; i++) {
        // At a different point of the daemon's turn each time.
        struct timespec wait = {.tv_nsec = (pause + (i * 37) % 100) * 1e3};
        nanosleep(&wait, NULL);
        snprintf(text, sizeof text, "{\"type\":\"pan\",\"phase\":\"changed\",\"camera\":\"quiet\","
                 "\"translation\":{\"x\":%d,\"y\":0}}\n", i % 2 ? 40 : -40);
        double start = microseconds();
        // The first report of a gesture begins it and moves nothing.
        if (i == 0) {
            if (write(descriptor, text, strlen(text)) < 0) fail("write");
            continue;
        }
        exchange(descriptor, text, "camera-changed", answer, sizeof answer);
        times[i] = microseconds() - start;
    }
    qsort(times + 1, count - 1, sizeof *times, by_size);
#define PERCENTILE(p) times[1 + (int)((count - 2) * (p) / 100.0)]
    printf("{\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"max\":%.1f,\"ahead\":%d}\n", PERCENTILE(50), PERCENTILE(90),
           PERCENTILE(99), times[count - 1], is_ahead);
}

int main(int argc, char **argv) {
    int count = 1, option;
    while ((option = getopt(argc, argv, "n:")) != -1) {
        if (option != 'n') return 64;
        count = atoi(optarg);
    }
    argv += optind;
    argc -= optind;
    if (argc == 1 && !strcmp(argv[0], "list")) {
        for (int i = 0; i < KINDS; i++) puts(kinds[i].name);
        return 0;
    }
    if (argc == 4 && !strcmp(argv[0], "quiet")) {
        path = argv[3];
        be_quiet(atoi(argv[1]), atof(argv[2]));
        return 0;
    }
    if (argc == 2) {
        path = argv[1];
        for (int i = 0; i < KINDS; i++) {
            if (!strcmp(argv[0], kinds[i].name)) {
                bother(&kinds[i], count);
                return 0;
            }
        }
    }
    fprintf(stderr, "usage: neighbours [-n COUNT] KIND SOCKET | neighbours quiet REQUESTS MICROSECONDS SOCKET | neighbours list\n");
    return 64;
}
