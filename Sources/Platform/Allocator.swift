import CLinux

/// What glibc's allocator keeps, so that a day leaves the process no larger than a morning did.
///
/// Work wanders over a dozen threads. Left to itself glibc gives eight arenas a core, each keeps
/// the most it ever held, and every large block that is freed raises the size from which blocks
/// are mapped, so that bodies end up between small ones and leave holes there.
package enum Allocator {
  /// Threads that allocate at the same time are two: the daemon's engine and its writer, or the
  /// event loops of a gateway on two processors.
  private static let arenasMax: Int32 = 2
  /// A block of this size is mapped, and is the system's again the moment it is freed: bodies of
  /// lists and K-lines, the buffers of a large commit, a gateway's large answers.
  private static let mappedBytesMin: Int32 = 256 << 10
  /// Free memory at an arena's end beyond this goes back to the system.
  private static let trimmedBytesMin: Int32 = 256 << 10

  /// Once, at the start of the program.
  package static func limit() {
    mallopt(M_ARENA_MAX, arenasMax)
    mallopt(M_MMAP_THRESHOLD, mappedBytesMin)
    mallopt(M_TRIM_THRESHOLD, trimmedBytesMin)
  }

  private static let trimNanoseconds: UInt64 = 10_000_000_000

  /// Gives free pages between used ones back to the system, which the thresholds do not reach: the
  /// end of a day and its K-lines, or a gateway's thousand refused clients, leave some megabytes of
  /// them. Until cancelled.
  package static func keepTrimming() async {
    while !Task.isCancelled {
      malloc_trim(0)
      try? await Task.sleep(nanoseconds: trimNanoseconds)
    }
  }
}
