// A kernel that refuses calls now and then, as if short of memory or descriptors: built as a library, and loaded ahead
// of the C library by LD_PRELOAD. The number of calls decides which one is refused: each kind has its own step, so that
// over time every call meets every error.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>

// Whether this call is refused: one in `step` is, with each of the errors in turn.
static int refused(unsigned *calls, unsigned step, const int *errors, unsigned count) {
    if (++*calls % step != 0) return 0;
    errno = errors[*calls / step % count];
    return 1;
}

#define NEXT(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))
#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const int sending[] = {ENOBUFS, EAGAIN, ENOMEM};
static const int receiving[] = {EAGAIN, EINTR};
static const int accepting[] = {ENOBUFS, ECONNABORTED, ENOMEM, EINTR};

ssize_t send(int socket, const void *bytes, size_t count, int flags) {
    static unsigned calls;
    if (refused(&calls, 3, sending, LENGTH(sending))) return -1;
    // Every other time only part of it is taken.
    return NEXT(send)(socket, bytes, calls % 2 == 0 && count > 1 ? count / 2 : count, flags);
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    static unsigned calls;
    if (refused(&calls, 3, sending, LENGTH(sending))) return -1;
    struct msghdr first = *message;
    if (calls % 2 == 0 && first.msg_iovlen > 1) first.msg_iovlen = 1;
    return NEXT(sendmsg)(socket, &first, flags);
}

ssize_t recv(int socket, void *bytes, size_t count, int flags) {
    static unsigned calls;
    if (refused(&calls, 4, receiving, LENGTH(receiving))) return -1;
    return NEXT(recv)(socket, bytes, count, flags);
}

int accept4(int socket, struct sockaddr *restrict address, socklen_t *restrict length, int flags) {
    static unsigned calls;
    if (refused(&calls, 2, accepting, LENGTH(accepting))) return -1;
    return NEXT(accept4)(socket, address, length, flags);
}
