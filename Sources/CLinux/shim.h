#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>
#include "crc32c.h"
#include "spawn_actions.h"
#include "start.h"

/// Names the calling thread, for `top -H` and gdb: at most 15 bytes. prctl is variadic, and
/// pthread_setname_np hides behind _GNU_SOURCE.
static inline int clinux_name_thread(const char *name) {
  return prctl(PR_SET_NAME, (unsigned long)name, 0UL, 0UL, 0UL);
}

// SEEK_DATA of lseek(2) hides behind _GNU_SOURCE.
static const int clinux_seek_data = 3;

// pipe2 hides behind _GNU_SOURCE (glibc 2.9).
extern int pipe2(int *ends, int flags);

/// A pipe whose ends no child inherits and whose writer never waits: a handler writes into it.
static inline int clinux_pipe(int *ends) {
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  return fcntl(ends[1], F_SETFL, O_NONBLOCK);
}
