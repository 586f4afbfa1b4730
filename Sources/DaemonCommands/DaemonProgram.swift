import ArgumentParser
import CLinux
import Commands
import Glibc
import Platform

/// The start of a process that may become a daemon: what concerns all threads is done before there
/// is a second one.
package enum DaemonProgram {
  /// A daemon that leads has nine of its own, a name that is looked up takes one more, and Swift's
  /// runtime wants as many as there are processors.
  private static let threadsMin = 14 + max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)

  /// Runs what the command line says. To be called on the main thread, before there is another.
  package static func run<Root: AsyncParsableCommand>(_ root: Root.Type) {
    clinux_open_standard_descriptors()
    Allocator.limit()
    // libcurl would write the keys of its sessions into the file that this names.
    unsetenv("SSLKEYLOGFILE")
    CommandProgram(threadsMin: threadsMin, failure: CommandFailure.init(of:)).run(root)
  }
}
