// posix_spawn's GNU actions, which hide behind _GNU_SOURCE: glibc 2.29 (chdir), 2.34 (closefrom).
#pragma once
#include <spawn.h>

extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *, const char *);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *, int);

/// A new session: no terminal, and no signal meant for the parent's process group.
enum { CLINUX_SPAWN_SETSID = 0x80 };

/// The child starts in `/` and with the descriptors 0, 1 and 2 only.
static inline int clinux_spawn_from_root(posix_spawn_file_actions_t *actions) {
  int failure = posix_spawn_file_actions_addchdir_np(actions, "/");
  return failure ? failure : posix_spawn_file_actions_addclosefrom_np(actions, 3);
}
