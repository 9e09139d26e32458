// The load: one feed and its subscribers on one server. It counts every message, and measures the server's processor
// time. It speaks just enough of five protocols. A feed sends a burst as one write, and the next one when every
// subscriber has all of it, so that all servers do the same work, and none is measured while it queues.
//
//   load [-s SUBSCRIBERS] [-b BURST] [-m BYTES] [-c CAMERAS] [-n CHANNEL] [-f MEMBERS] [-d DELIVERY]
//        PROTOCOL ADDRESS PID
//
// Commands come on standard input, one per line; each is answered by one line of JSON:
//   run SECONDS | pace COUNT MICROSECONDS | stream COUNT MICROSECONDS | flood (until the next command) |
//   stop SUBSCRIBERS | connect COUNT | connect-subscribe COUNT | drop
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { READ_BYTES = 256 << 10, CYCLE = 4096, PATIENCE_MS = 2000 };

enum protocol { GIMBAL, RELAY, ECHO, REDIS, MQTT, NATS };
static const char *const protocol_names[] = {"gimbal", "relay", "echo", "redis", "mqtt", "nats"};

struct connection {
    int descriptor;
    int stopped;
    uint64_t received;  // messages, or with `latest` the newest message's number
    size_t rest;        // bytes to come of the message or word that was cut
    int rest_counts;    // whether that is a message
};

static enum protocol protocol;
static const char *address;
static clockid_t server_clock;
static int subscriber_count, active_count, burst = 1, camera_count = 1, member_count = 1, is_latest;
static size_t message_bytes = 220;
static char channel = 'c';  // a camera where it is another
static struct connection feed, *subscribers;
static int poll_descriptor;
static uint64_t sent;         // messages since the start, what each subscriber is to have received
static uint64_t first_seq;    // of a Gimbal camera when its subscribers came
static uint64_t waiting_for;  // subscribers that do not have the last message yet
static size_t frame_bytes;    // a message as it comes to a subscriber, where all are of one length
static char *burst_text[CYCLE];
static size_t burst_length[CYCLE];
static unsigned next_burst, bursts_in_cycle;

static void fail(const char *what) {
    fprintf(stderr, "load: %s, %s: %s\n", protocol_names[protocol], what, strerror(errno));
    exit(1);
}

static double seconds_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static double now(void) { return seconds_of(CLOCK_MONOTONIC); }

// MARK: Connections

static int open_connection(void) {
    int descriptor;
    if (address[0] == '/') {
        struct sockaddr_un path = {.sun_family = AF_UNIX};
        snprintf(path.sun_path, sizeof path.sun_path, "%s", address);
        descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(descriptor, (struct sockaddr *)&path, sizeof path) < 0) fail("connect");
    } else {
        struct sockaddr_in port = {.sin_family = AF_INET, .sin_port = htons(atoi(address)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        int on = 1;
        descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(descriptor, (struct sockaddr *)&port, sizeof port) < 0) fail("connect");
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    return descriptor;
}

static void put(int descriptor, const void *bytes, size_t length) {
    for (const char *next = bytes; length > 0;) {
        ssize_t count = send(descriptor, next, length, MSG_NOSIGNAL);
        if (count < 0) fail("send");
        next += count;
        length -= count;
    }
}

static void put_text(int descriptor, const char *text) { put(descriptor, text, strlen(text)); }

// Reads an answer that ends with `end`; fails if nothing comes for ten seconds.
static void expect(int descriptor, const char *end, size_t end_length, char *answer, size_t room) {
    struct timeval patience = {.tv_sec = 10};
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    for (size_t length = 0; length < room - 1;) {
        ssize_t count = recv(descriptor, answer + length, room - 1 - length, 0);
        if (count <= 0) fail("an answer");
        length += count;
        answer[length] = 0;
        if (length >= end_length && memcmp(answer + length - end_length, end, end_length) == 0) return;
    }
    fail("an answer that is too long");
}

static void ask(int descriptor, const char *question, const char *end) {
    char answer[4096];
    put_text(descriptor, question);
    expect(descriptor, end, strlen(end), answer, sizeof answer);
}

static void greet(int descriptor) {
    static const char connect_packet[] = "\x10\x0c\x00\x04MQTT\x04\x02\x00\x00\x00\x00";
    char answer[4096];
    switch (protocol) {
    case MQTT:
        put(descriptor, connect_packet, sizeof connect_packet - 1);
        expect(descriptor, "\x20\x02\x00\x00", 4, answer, sizeof answer);
        break;
    case NATS:
        expect(descriptor, "\r\n", 2, answer, sizeof answer);
        ask(descriptor, "CONNECT {\"verbose\":false}\r\nPING\r\n", "PONG\r\n");
        break;
    default: break;
    }
}

static void send_subscribe(int descriptor) {
    const char subscribe_packet[] = {'\x82', 6, 0, 1, 0, 1, channel, 0};
    switch (protocol) {
    case GIMBAL:
        dprintf(descriptor, "{\"type\":\"subscribe\",\"delivery\":\"%s\"}\n", is_latest ? "latest" : "every");
        break;
    case RELAY: put_text(descriptor, "subscribe\n"); break;
    case REDIS: dprintf(descriptor, "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\n%c\r\n", channel); break;
    case MQTT: put(descriptor, subscribe_packet, sizeof subscribe_packet); break;
    case NATS: dprintf(descriptor, "SUB %c 1\r\nPING\r\n", channel); break;
    case ECHO: break;
    }
}

static void await_subscribed(int descriptor) {
    char answer[4096] = "";
    switch (protocol) {
    case GIMBAL: {
        expect(descriptor, "\n", 1, answer, sizeof answer);
        char *seq = strstr(answer, "\"seq\":");
        if (seq == NULL) fail("no seq");
        first_seq = strtoull(seq + 6, NULL, 10);
        break;
    }
    case RELAY: expect(descriptor, "\n", 1, answer, sizeof answer); break;
    case REDIS: expect(descriptor, ":1\r\n", 4, answer, sizeof answer); break;
    case MQTT: expect(descriptor, "\x90\x03\x00\x01\x00", 5, answer, sizeof answer); break;
    case NATS: expect(descriptor, "PONG\r\n", 6, answer, sizeof answer); break;
    case ECHO: break;
    }
}

static void watch(struct connection *connection) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
    if (epoll_ctl(poll_descriptor, EPOLL_CTL_ADD, connection->descriptor, &event) < 0) fail("epoll_ctl");
}

// MARK: Sending

static const char *camera_member(unsigned number) {
    static char text[32];
    if (camera_count > 1) snprintf(text, sizeof text, "\"camera\":\"c%u\",", number % camera_count);
    else if (channel != 'c') snprintf(text, sizeof text, "\"camera\":\"%c\",", channel);
    return text;
}

// A finger's report on a tilted and rotated camera: each one moves it, in a circle, so that it never reaches a bound.
static int write_gesture(char *out, unsigned number, unsigned member) {
    double angle = 2 * M_PI * (number * (double)member_count + member) / (CYCLE * member_count);
    return sprintf(
        out,
        "{\"type\":\"pan\",\"phase\":\"changed\",%s\"focus\":{\"x\":%.2f,\"y\":%.2f},"
        "\"translation\":{\"x\":%.3f,\"y\":%.3f}}",
        camera_member(number), 195 + 90 * cos(angle), 420 + 90 * sin(angle), 90 * cos(angle), 90 * sin(angle));
}

static int write_line(char *out, unsigned number, int is_last) {
    char *next = out;
    if (member_count > 1) *next++ = '[';
    for (int member = 0; member < member_count; member++) {
        if (member > 0) *next++ = ',';
        next += write_gesture(next, number, member);
    }
    // Without a subscriber to read the event, an answer confirms that the burst has been applied.
    if (is_last && subscriber_count == 0) next += sprintf(next - 1, ",\"id\":1}") - 1;
    if (member_count > 1) *next++ = ']';
    *next++ = '\n';
    return next - out;
}

static int write_message(char *out, unsigned number, int is_last) {
    int length = message_bytes;
    char *next = out;
    switch (protocol) {
    case GIMBAL: return write_line(out, number, is_last);
    case RELAY: case ECHO: length--; break;  // the LF is a part of it
    case REDIS: next += sprintf(next, "*3\r\n$7\r\nPUBLISH\r\n$1\r\n%c\r\n$%d\r\n", channel, length); break;
    case NATS: next += sprintf(next, "PUB %c %d\r\n", channel, length); break;
    case MQTT: {
        int rest = length + 3;
        *next++ = 0x30;
        if (rest > 127) *next++ = (char)(rest % 128 | 0x80), rest /= 128;
        *next++ = rest;
        *next++ = 0, *next++ = 1, *next++ = channel;
    }
    }
    memset(next, 'x', length);
    next += length;
    if (protocol == RELAY || protocol == ECHO) *next++ = '\n';
    if (protocol == REDIS || protocol == NATS) next += sprintf(next, "\r\n");
    if (is_last && subscriber_count == 0) {
        if (protocol == RELAY) next += sprintf(next, "ping\n");
        if (protocol == NATS) next += sprintf(next, "PING\r\n");
        if (protocol == MQTT) memcpy(next, "\xc0\x00", 2), next += 2;
    }
    return next - out;
}

static void prepare(void) {
    size_t room = (size_t)burst * (message_bytes + 160 * member_count + 160);
    bursts_in_cycle = CYCLE / burst;
    unsigned number = 0;
    for (unsigned index = 0; index < bursts_in_cycle; index++) {
        char *next = burst_text[index] = malloc(room);
        if (next == NULL) fail("malloc");
        for (int line = 0; line < burst; line++) next += write_message(next, number++, line == burst - 1);
        burst_length[index] = next - burst_text[index];
    }
    char digits[16];
    if (protocol == REDIS) frame_bytes = sprintf(digits, "%zu", message_bytes) + 29 + message_bytes;
    if (protocol == NATS) frame_bytes = sprintf(digits, "%zu", message_bytes) + 12 + message_bytes;
    if (protocol == MQTT) frame_bytes = message_bytes + 5 + (message_bytes + 3 > 127);
}

// Puts a finger on each camera, so that only the steady state is measured.
static void prepare_cameras(void) {
    for (int index = 0; index < camera_count; index++) {
        const char *camera = camera_member(index);
        char text[1024];
        snprintf(
            text, sizeof text,
            "{\"type\":\"move\",%s\"update\":{\"kind\":\"set-camera\",\"position\":{\"target\":{"
            "\"latitude\":48.858809831,\"longitude\":2.295090581},\"zoom\":14.321928,\"bearing\":353.512345,"
            "\"viewingAngle\":42.512345}}}\n"
            "{\"type\":\"pan\",%s\"phase\":\"began\",\"id\":1}\n{\"type\":\"pan\",%s\"phase\":\"changed\",\"id\":2,"
            "\"translation\":{\"x\":1,\"y\":1}}\n", camera, camera, camera);
        ask(feed.descriptor, text, "\"id\":2}\n");
    }
}

// MARK: Receiving

static void arrived(struct connection *connection, uint64_t received) {
    int was_waiting = connection->received < sent;
    connection->received = received;
    if (was_waiting && received >= sent && !connection->stopped && connection != &feed) waiting_for--;
}

static uint64_t count_newlines(const char *bytes, size_t length) {
    uint64_t count = 0;
    for (const char *end = bytes + length; (bytes = memchr(bytes, '\n', end - bytes)) != NULL; bytes++) count++;
    return count;
}

static uint64_t newest_seq(const char *bytes, size_t length, uint64_t known) {
    // The lines of one send arrive together: none is cut.
    const char *seq = NULL, *next = bytes;
    while ((next = memmem(next, length - (next - bytes), "\"seq\":", 6)) != NULL) seq = next += 6;
    return seq ? strtoull(seq, NULL, 10) - first_seq : known;
}

// Counts messages of one length, between which the server may send others: NATS checks that its client is alive.
static uint64_t count_frames(struct connection *connection, const char *bytes, size_t length) {
    static const char first_byte[] = {[REDIS] = '*', [MQTT] = 0x30, [NATS] = 'M'};
    uint64_t count = 0;
    while (length > 0) {
        if (connection->rest == 0) {
            connection->rest_counts = *bytes == first_byte[protocol];
            connection->rest = connection->rest_counts ? frame_bytes : 6;
            if (!connection->rest_counts) {
                if (protocol != NATS || *bytes != 'P') fail("a message of another form");
                put_text(connection->descriptor, "PONG\r\n");
            }
        }
        size_t part = connection->rest < length ? connection->rest : length;
        connection->rest -= part;
        bytes += part;
        length -= part;
        if (connection->rest == 0) count += connection->rest_counts;
    }
    return count;
}

static uint64_t feed_answers;

static void take(struct connection *connection) {
    static char buffer[READ_BYTES + 1];
    ssize_t count = recv(connection->descriptor, buffer, READ_BYTES, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
        if (connection == &feed) fail("the feed was closed");
        connection->stopped = 1;
        if (connection->received < sent) waiting_for--;
        active_count--;
        close(connection->descriptor);
        return;
    }
    buffer[count] = 0;
    if (connection == &feed) {
        if (protocol == NATS && memmem(buffer, count, "PING\r\n", 6)) put_text(connection->descriptor, "PONG\r\n");
        if (protocol == NATS) feed_answers += memmem(buffer, count, "PONG\r\n", 6) != NULL;
        else if (protocol == MQTT) feed_answers += count / 2;
        else feed_answers += count_newlines(buffer, count);
    } else if (protocol == GIMBAL && is_latest) {
        arrived(connection, newest_seq(buffer, count, connection->received));
    } else if (protocol == GIMBAL || protocol == RELAY) {
        arrived(connection, connection->received + count_newlines(buffer, count));
    } else {
        arrived(connection, connection->received + count_frames(connection, buffer, count));
    }
}

// MARK: Bursts

static uint64_t answers_wanted(void) {
    if (protocol == REDIS || protocol == ECHO) return burst;
    return subscriber_count == 0;
}

static void send_burst(void) {
    sent += burst;
    waiting_for = active_count;
    feed_answers = 0;
    put(feed.descriptor, burst_text[next_burst], burst_length[next_burst]);
    next_burst = (next_burst + 1) % bursts_in_cycle;
}

// Takes what has arrived, waiting for it; returns 0 if nothing came.
static int take_all(int milliseconds) {
    struct epoll_event events[256];
    int count = epoll_wait(poll_descriptor, events, 256, milliseconds);
    for (int index = 0; index < count; index++) take(events[index].data.ptr);
    return count > 0;
}

// Sends a burst and waits until every subscriber has it; returns 0 if that takes too long.
static int exchange(void) {
    send_burst();
    while (waiting_for > 0 || feed_answers < answers_wanted()) {
        if (!take_all(PATIENCE_MS)) return 0;
    }
    return 1;
}

static void print_run(uint64_t lines, uint64_t deliveries, double wall, double cpu, double own, int stalled) {
    printf("{\"lines\":%llu,\"deliveries\":%llu,\"wall\":%.6f,\"cpu\":%.6f,\"own\":%.6f,\"stalled\":%d",
           (unsigned long long)lines, (unsigned long long)deliveries, wall, cpu, own, stalled);
}

static void run(double seconds) {
    double start = now(), cpu = seconds_of(server_clock), own = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    double end = start + seconds;
    uint64_t lines = 0, deliveries = 0;
    int stalled = 0;
    do {
        stalled = !exchange();
        if (stalled) break;
        lines += burst;
        deliveries += (uint64_t)burst * active_count;
    } while (now() < end);
    print_run(lines, deliveries, now() - start, seconds_of(server_clock) - cpu,
              seconds_of(CLOCK_PROCESS_CPUTIME_ID) - own, stalled);
    printf("}\n");
}

static int compare(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static void pace(int count, double microseconds) {
    double *times = malloc(count * sizeof *times);
    if (times == NULL) fail("malloc");
    double start = now(), cpu = seconds_of(server_clock), own = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (int index = 0; index < count; index++) {
        double due = start + index * microseconds / 1e6, wait;
        while ((wait = due - now()) > 0) {
            struct timespec pause = {.tv_nsec = wait * 1e9};
            nanosleep(&pause, NULL);
        }
        double begun = now();
        if (!exchange()) fail("a line that did not arrive");
        times[index] = (now() - begun) * 1e6;
    }
    print_run(count, (uint64_t)count * active_count, now() - start, seconds_of(server_clock) - cpu,
              seconds_of(CLOCK_PROCESS_CPUTIME_ID) - own, 0);
    qsort(times, count, sizeof *times, compare);
    printf(",\"p50\":%.2f,\"p99\":%.2f,\"p999\":%.2f}\n", times[count / 2], times[count * 99 / 100],
           times[count * 999LL / 1000]);
    free(times);
}

// Sends by the clock; waits for the subscribers only at the end.
static void stream(int count, double microseconds) {
    struct pollfd news = {.fd = poll_descriptor, .events = POLLIN};
    double start = now(), cpu = seconds_of(server_clock), own = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (int index = 0; index < count; index++) {
        double due = start + index * microseconds / 1e6, wait;
        while ((wait = due - now()) > 0) {
            struct timespec pause = {.tv_nsec = wait * 1e9};
            if (ppoll(&news, 1, &pause, NULL) > 0) take_all(0);
        }
        send_burst();
    }
    while (waiting_for > 0 && take_all(PATIENCE_MS)) continue;
    print_run((uint64_t)count * burst, (uint64_t)count * burst * active_count, now() - start,
              seconds_of(server_clock) - cpu, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - own, waiting_for > 0);
    printf("}\n");
}

// Writes as fast as the server reads, and ignores what it sends back.
static void flood(void) {
    struct pollfd command = {.fd = STDIN_FILENO, .events = POLLIN};
    double start = now(), cpu = seconds_of(server_clock), own = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t lines = 0;
    do {
        put(feed.descriptor, burst_text[next_burst], burst_length[next_burst]);
        next_burst = (next_burst + 1) % bursts_in_cycle;
        lines += burst;
        take(&feed);
    } while (poll(&command, 1, 0) == 0);
    print_run(lines, 0, now() - start, seconds_of(server_clock) - cpu, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - own, 0);
    printf("}\n");
}

static void stop_reading(int count) {
    for (int index = 0; index < count && index < subscriber_count; index++) {
        if (subscribers[index].stopped) continue;
        subscribers[index].stopped = 1;
        active_count--;
        epoll_ctl(poll_descriptor, EPOLL_CTL_DEL, subscribers[index].descriptor, NULL);
    }
    printf("{\"active\":%d}\n", active_count);
}

// MARK: New connections

static int *extras, extra_count;

static void open_many(int count, int subscribe) {
    extras = realloc(extras, (extra_count + count) * sizeof *extras);
    if (extras == NULL) fail("realloc");
    double start = now(), cpu = seconds_of(server_clock), own = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (int index = 0; index < count; index++) {
        int descriptor = extras[extra_count + index] = open_connection();
        greet(descriptor);
        if (subscribe) send_subscribe(descriptor);
    }
    for (int index = 0; subscribe && index < count; index++) await_subscribed(extras[extra_count + index]);
    // The last one's answer shows that all have been accepted.
    int last = extras[extra_count + count - 1];
    if (!subscribe && protocol == GIMBAL) ask(last, "{\"type\":\"ping\"}\n", "\n");
    if (!subscribe && protocol == RELAY) ask(last, "ping\n", "\n");
    if (!subscribe && protocol == REDIS) ask(last, "PING\r\n", "\n");
    extra_count += count;
    print_run(count, 0, now() - start, seconds_of(server_clock) - cpu, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - own, 0);
    printf("}\n");
}

static void drop(void) {
    while (extra_count > 0) close(extras[--extra_count]);
    printf("{}\n");
}

// MARK: Start

static void parse(int count, char **arguments) {
    int option;
    while ((option = getopt(count, arguments, "s:b:m:c:n:f:d:")) != -1) {
        switch (option) {
        case 's': subscriber_count = atoi(optarg); break;
        case 'b': burst = atoi(optarg); break;
        case 'm': message_bytes = atoi(optarg); break;
        case 'c': camera_count = atoi(optarg); break;
        case 'n': channel = *optarg; break;
        case 'f': member_count = atoi(optarg); break;
        case 'd': is_latest = strcmp(optarg, "latest") == 0; break;
        default: exit(64);
        }
    }
    if (count - optind != 3 || burst < 1 || burst > CYCLE) {
        fprintf(stderr, "usage: load [OPTIONS] PROTOCOL ADDRESS PID\n");
        exit(64);
    }
    while (strcmp(protocol_names[protocol], arguments[optind]) != 0) {
        if (++protocol > NATS) exit(64);
    }
    address = arguments[optind + 1];
    if (clock_getcpuclockid(atoi(arguments[optind + 2]), &server_clock) != 0) fail("the server's clock");
}

static void open_all(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    poll_descriptor = epoll_create1(EPOLL_CLOEXEC);
    feed.descriptor = open_connection();
    greet(feed.descriptor);
    if (protocol == GIMBAL) prepare_cameras();
    watch(&feed);
    subscribers = calloc(subscriber_count + 1, sizeof *subscribers);
    if (subscribers == NULL) fail("calloc");
    active_count = subscriber_count;
    for (int index = 0; index < subscriber_count; index++) {
        subscribers[index].descriptor = open_connection();
        greet(subscribers[index].descriptor);
        send_subscribe(subscribers[index].descriptor);
        await_subscribed(subscribers[index].descriptor);
        watch(&subscribers[index]);
    }
}

int main(int count, char **arguments) {
    char command[128];
    double first, second;
    parse(count, arguments);
    open_all();
    prepare();
    setvbuf(stdout, NULL, _IOLBF, 0);
    setvbuf(stdin, NULL, _IONBF, 0);  // what is to come is seen by poll
    printf("{\"ready\":true,\"line\":%zu}\n", burst_length[0] / burst);
    while (fgets(command, sizeof command, stdin) != NULL) {
        if (sscanf(command, "run %lf", &first) == 1) run(first);
        else if (sscanf(command, "pace %lf %lf", &first, &second) == 2) pace(first, second);
        else if (sscanf(command, "stream %lf %lf", &first, &second) == 2) stream(first, second);
        else if (strcmp(command, "flood\n") == 0) flood();
        else if (sscanf(command, "stop %lf", &first) == 1) stop_reading(first);
        else if (sscanf(command, "connect %lf", &first) == 1) open_many(first, 0);
        else if (sscanf(command, "connect-subscribe %lf", &first) == 1) open_many(first, 1);
        else if (strcmp(command, "drop\n") == 0) drop();
        else return 64;
    }
    return 0;
}
