#pragma once
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include "crc32c.h"

/// Names the calling thread, for `top -H` and gdb: at most 15 bytes. prctl is variadic, and
/// pthread_setname_np hides behind _GNU_SOURCE.
static inline int clinux_name_thread(const char *name) {
  return prctl(PR_SET_NAME, (unsigned long)name, 0UL, 0UL, 0UL);
}

// Declared by glibc's spawn.h only under _GNU_SOURCE, which Swift's importer does not set.
#include <spawn.h>
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions,
                                                const char *path);
/// POSIX_SPAWN_SETSID, hidden the same way.
static const short clinux_spawn_setsid = 0x80;
