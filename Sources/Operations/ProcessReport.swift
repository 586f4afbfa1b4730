/// What the kernel says of this process, from /proc/self.

import Glibc
import Platform

package struct ProcessReport: Sendable, Hashable {
  package var residentBytes: Int64
  package var openDescriptors: Int64
  package var threads: Int64
  /// User and system together.
  package var processorMicroseconds: Int64
  /// Since 1970, as the clock stood when it was first asked for; to a hundredth of a second.
  package var startedAtMicroseconds: Int64

  /// Nothing known.
  package static let none = ProcessReport(stat: "", descriptors: 0, bootedAt: 0)

  /// Of this process, now.
  package init() {
    self.init(
      stat: SmallFile.text(of: "/proc/self/stat"), descriptors: Self.descriptorCount(),
      bootedAt: Self.bootedAt)
  }

  /// - Parameters:
  ///   - stat: proc(5), /proc/pid/stat.
  ///   - bootedAt: µs since 1970.
  init(stat: String, descriptors: Int64, bootedAt: Int64) {
    // The second field is the program's name in parentheses, which may hold anything.
    let tail = stat.lastIndex(of: ")").map { stat[stat.index(after: $0)...] } ?? ""
    let fields = tail.split(separator: " ")
    func field(_ number: Int) -> Int64 {
      let place = number - Self.firstFieldAfterName
      return fields.indices.contains(place) ? Int64(fields[place]) ?? 0 : 0
    }
    let microsecondsPerTick = 1_000_000 / max(Int64(sysconf(Int32(_SC_CLK_TCK))), 1)
    residentBytes = field(24) * Int64(sysconf(Int32(_SC_PAGESIZE)))
    threads = field(20)
    processorMicroseconds = (field(14) + field(15)) * microsecondsPerTick
    startedAtMicroseconds =
      fields.isEmpty ? 0 : bootedAt + field(22) * microsecondsPerTick
    openDescriptors = descriptors
  }

  private static let firstFieldAfterName = 3

  /// The one used to look is not counted.
  private static func descriptorCount() -> Int64 {
    max(Int64(Folder.names(in: "/proc/self/fd")?.count ?? 0) - 1, 0)
  }

  /// Not from /proc/stat: the unit's ProcSubset=pid leaves none. Once, for a clock that is set
  /// later must not look like a restart.
  static let bootedAt: Int64 = {
    guard let awake = SystemClock.nanoseconds(of: CLOCK_BOOTTIME) else { return 0 }
    return SystemClock.realMicroseconds() - awake / 1_000
  }()
}

extension MetricFamily {
  /// What is served of the process of every program, under the names that monitors know.
  package static func ofProcess(
    _ process: @escaping @Sendable (Report) -> ProcessReport
  ) -> [MetricFamily] {
    func family(
      _ kind: Kind, name: String, help: String,
      read: @escaping @Sendable (ProcessReport) -> MetricValue
    ) -> MetricFamily {
      MetricFamily(kind, name: name, help: help) { report in read(process(report)) }
    }
    return [
      family(.counter, name: "process_cpu_seconds_total", help: "CPU time, user and system.") {
        .microseconds($0.processorMicroseconds)
      },
      family(.gauge, name: "process_resident_memory_bytes", help: "Resident memory.") {
        .integer($0.residentBytes)
      },
      family(.gauge, name: "process_open_fds", help: "Open file descriptors.") {
        .integer($0.openDescriptors)
      },
      family(.gauge, name: "process_threads", help: "Threads.") { .integer($0.threads) },
      family(.gauge, name: "process_start_time_seconds", help: "Start time of the process.") {
        .microseconds($0.startedAtMicroseconds)
      },
    ]
  }
}
