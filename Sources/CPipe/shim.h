// Linux's own calls for pipes, which Swift's Glibc leaves out: it is made without _GNU_SOURCE.
#ifndef GIMBAL_CPIPE_H
#define GIMBAL_CPIPE_H

#include <stddef.h>
#include <sys/types.h>

// As in fcntl.h and unistd.h.
extern ssize_t tee(int from, int to, size_t count, unsigned int flags);
extern int pipe2(int ends[2], int flags);

#endif
