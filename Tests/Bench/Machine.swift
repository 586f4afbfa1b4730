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
  static func load() -> String {
    var averages = [0.0, 0.0, 0.0]
    guard getloadavg(&averages, 3) == 3 else { return "unknown" }
    return averages.map { decimals($0, 2) }.joined(separator: " ")
  }

  /// A figure of /proc/PID/status: `VmRSS`, `VmHWM` and their like; 0 where there is none.
  static func mebibytes(_ field: String, of process: pid_t) -> Double {
    guard let file = fopen("/proc/\(process)/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      let words = text.split { " \t\n".contains($0) }
      if words.first == "\(field):", words.count > 1, let kibibytes = Double(words[1]) {
        return kibibytes / 1024
      }
    }
    return 0
  }

  /// The path of a program beside this one.
  static func program(_ name: String) throws -> String {
    guard let own = realpath("/proc/self/exe", nil) else {
      throw BenchFailure(description: "cannot find the folder of this program")
    }
    defer { free(own) }
    let folder = String(cString: own).split(separator: "/").dropLast().joined(separator: "/")
    return "/\(folder)/\(name)"
  }

  /// A kernel's account of time, in seconds.
  static func seconds(_ time: timeval) -> Double {
    Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
  }
}
