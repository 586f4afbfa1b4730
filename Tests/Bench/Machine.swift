/// What the figures were measured on: a time means nothing without it.

import EmbeddedPostgres
import Glibc

enum Machine {
  static func describe() {
    let server = ServerBinaries.installed().first.map { "PostgreSQL \($0.major)" }
    printLine(
      "machine: \(sysconf(Int32(_SC_NPROCESSORS_ONLN))) cores, load \(load()), "
        + "\(server ?? "no PostgreSQL")")
  }

  /// Of the last 1, 5 and 15 minutes. Above the number of cores, medians suffer.
  private static func load() -> String {
    var averages = [0.0, 0.0, 0.0]
    guard getloadavg(&averages, 3) == 3 else { return "unknown" }
    return averages.map { decimals($0, 2) }.joined(separator: " ")
  }

  /// A kernel's account of time, in seconds.
  static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
  }
}
