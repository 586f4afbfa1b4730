#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include "crc32c.h"
#include "spawn_actions.h"

/// Names the calling thread, for `top -H` and gdb: at most 15 bytes. prctl is variadic, and
/// pthread_setname_np hides behind _GNU_SOURCE.
static inline int clinux_name_thread(const char *name) {
  return prctl(PR_SET_NAME, (unsigned long)name, 0UL, 0UL, 0UL);
}
