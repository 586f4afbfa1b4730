// The first moments of a process, before Swift's runtime is there: system calls and nothing else.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/// EX_IOERR and EX_TEMPFAIL of sysexits.h.
enum { CLINUX_EX_IOERR = 74, CLINUX_EX_TEMPFAIL = 75 };

/// Opens those of the descriptors 0, 1 and 2 that are closed, so that no file or socket of ours gets
/// such a number and with it what is meant for a terminal. On /dev/null, the wrong way round: reading
/// the input and writing the outputs go on failing with EBADF, so that no command takes what it
/// could not write for written. glibc does the same for setuid programs (csu/check_fds.c).
static inline void clinux_open_standard_descriptors(void) {
  for (int number = 0; number <= 2; number++) {
    if (fcntl(number, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is this one.
    if (open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY) != number) _exit(CLINUX_EX_IOERR);
  }
}

static inline void clinux_end_late_start(int signal) {
  static const char sentence[] =
      "candled: not started in time: the system gives no thread (ulimit -u, TasksMax=, pids.max)\n";
  (void)signal;
  (void)!write(STDERR_FILENO, sentence, sizeof sentence - 1);
  _exit(CLINUX_EX_TEMPFAIL);
}

/// By a signal and not by a thread: there may be none to be had.
static inline void clinux_set_start_deadline(unsigned seconds) {
  signal(SIGALRM, clinux_end_late_start);
  alarm(seconds);
}

static inline void clinux_meet_start_deadline(void) {
  alarm(0);
  signal(SIGALRM, SIG_DFL);
}
