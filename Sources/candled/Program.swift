import CLinux
import Commands
import Glibc
import Platform

/// The start of the process: what concerns all threads is done before there is a second one.
@main
enum Program {
  /// A daemon that leads has nine of its own, a name that is looked up takes one more, and Swift's
  /// runtime wants as many as there are processors.
  private static let threadsMin = 14 + max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1)

  static func main() {
    clinux_open_standard_descriptors()
    Allocator.limit()
    // libcurl would write the keys of its sessions into the file that this names.
    unsetenv("SSLKEYLOGFILE")
    CommandProgram(threadsMin: threadsMin, failure: CommandFailure.init(of:)).run(Candled.self)
  }
}
