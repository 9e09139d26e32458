// What Swift's Glibc module lacks: it is built without _GNU_SOURCE, and Swift does not import vfork(2), prctl(2),
// adjtimex(2) and malloc's settings.
#ifndef GIMBAL_CLINUX_H
#define GIMBAL_CLINUX_H

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/timex.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

// As in fcntl.h, string.h, unistd.h, sys/mman.h and sys/pidfd.h.
extern ssize_t tee(int from, int to, size_t count, unsigned int flags);
#define SPLICE_F_NONBLOCK 2
extern ssize_t splice(int from, off_t *fromOffset, int to, off_t *toOffset, size_t count, unsigned int flags);
extern int pipe2(int ends[2], int flags);
extern void *memmem(const void *bytes, size_t count, const void *word, size_t length);
#define MFD_CLOEXEC 1U
extern int memfd_create(const char *name, unsigned int flags);
extern int pidfd_open(pid_t process, unsigned int flags);
extern pid_t vfork(void);

// Starts a program with these descriptors as its standard ones. It gets SIGTERM as soon as the calling thread has ended,
// even by SIGKILL. It handles no signals, and ignores those that this program ignores, except SIGPIPE. Returns -1 with
// errno if it cannot be started.
//
// Sound: until execve, the child borrows the memory of this thread, which waits meanwhile; it changes only `error`, and
// none of this program's handlers runs in it, since all signals are blocked.
__attribute__((noinline, unused)) static pid_t start_program(
    const char *path, char *const arguments[], char *const environment[], int input, int output, int errors) {
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    const pid_t parent = getpid();
    volatile int error = 0;
    const pid_t child = vfork();
    if (child == 0) {
        for (int number = 1; number < 65; number++) {
            struct sigaction action;
            if (sigaction(number, NULL, &action) != 0) continue;
            if (action.sa_handler == SIG_IGN && number != SIGPIPE) continue;
            action.sa_handler = SIG_DFL;
            action.sa_flags = 0;
            sigaction(number, &action, NULL);
        }
        // A parent that ended before prctl sends no signal any more.
        if (prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent && dup2(input, 0) >= 0 && dup2(output, 1) >= 0
            && dup2(errors, 2) >= 0) {
            sigprocmask(SIG_SETMASK, &before, NULL);
            execve(path, arguments, environment);
        }
        error = errno;
        _exit(127);
    }
    const int failure = child < 0 ? errno : error;
    if (child > 0 && failure != 0) waitpid(child, NULL, 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = failure;
    return failure == 0 ? child : -1;
}

#endif
