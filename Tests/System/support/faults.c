// A kernel that refuses now and then, as one that is short of memory or of descriptors does: built as a library, and put in
// front of the C library's calls by LD_PRELOAD. Which call is refused follows from how many there were: each of a kind has
// its own step, so that over time every call meets every error.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>

// Whether this call is refused: one of so many, with one of these errors after the other.
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
    // Every other time a part of it is taken.
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
