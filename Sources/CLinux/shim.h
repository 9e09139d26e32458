// Linux's own calls that Swift's Glibc leaves out: it is made without _GNU_SOURCE.
#ifndef GIMBAL_CLINUX_H
#define GIMBAL_CLINUX_H

#include <stddef.h>
#include <sys/types.h>

// As in fcntl.h, unistd.h and sys/pidfd.h.
extern ssize_t tee(int from, int to, size_t count, unsigned int flags);
#define SPLICE_F_NONBLOCK 2
extern ssize_t splice(int from, off_t *fromOffset, int to, off_t *toOffset, size_t count, unsigned int flags);
extern int pipe2(int ends[2], int flags);
extern int pidfd_open(pid_t process, unsigned int flags);

#endif
