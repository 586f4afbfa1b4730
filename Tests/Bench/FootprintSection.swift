/// What the daemon takes of a machine in a day: `candled run`, the release binary, as a process of
/// its own with a stepped clock, for every sweep of a whole market's day.
///
/// The day is run as fast as it goes; its CPU seconds are then held against the time the sweeps
/// take at the exchange's cadence. Memory is the kernel's high-water mark. PostgreSQL and the
/// simulated exchange are other processes and not counted.

import ExchangeSimulator
import Glibc
import Market
import TestExchange

let footprintSection = BenchSection(
  name: "footprint", title: "candled run: a day of 5,400 instruments at a 3 s cadence"
) { plan in
  let day = try SimulatedDay()
  defer { day.end() }
  let start = Session.dayReset
  let close = FootprintBench.dayEnd
  // A shorter run begins with the opening: nothing happens before.
  let stop = plan.minutes.map { min(Session.morningOpen + $0 * 60, close) } ?? close
  let began = milliseconds()
  let child = try FootprintBench.run(
    day.overrides(from: plan.minutes == nil ? start : Session.morningOpen - 60, to: stop))
  let elapsed = (milliseconds() - began) / 1000
  let sweeps =
    Double(day.exchange.requestsAnswered) / Double(FootprintBench.batches(day.instruments))
  let span = plan.minutes.map { "the first \($0) minutes" } ?? "the full day, 09:00–15:37"
  printLine(
    "  \(span): \(decimals(sweeps, 0)) sweeps in \(decimals(elapsed, 0)) s, "
      + "\(decimals(child.cpuSeconds, 1)) s of CPU, "
      + "\(decimals(child.cpuSeconds / sweeps * 1000, 2)) ms a sweep, "
      + "journal \(decimals(Double(day.journalBytes()) / 1_048_576, 0)) MiB")
  check("CPU", child.cpuSeconds / (sweeps * 3) * 100, atMost: 8, "% of one core")
  check("memory", child.peakMebibytes, atMost: 96, "MiB RSS")
}

private enum FootprintBench {
  /// When the certificates have been written.
  static let dayEnd = Session.afterHoursClose + 7 * 60
  /// The reference symbol is in each.
  private static let batchMax = 800
  private static let lookMicroseconds: useconds_t = 200_000

  static func batches(_ instruments: Int) -> Int {
    (instruments - 1 + batchMax - 2) / (batchMax - 1)
  }

  struct Usage {
    var cpuSeconds = 0.0
    var peakMebibytes = 0.0
  }

  /// Runs the daemon to the end of its simulated time.
  static func run(_ overrides: [String]) throws -> Usage {
    let arguments = [try Machine.program("candled"), "run"] + overrides.flatMap { ["--set", $0] }
    var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var child = pid_t()
    guard posix_spawn(&child, arguments[0], nil, nil, words, environ) == 0 else {
      throw BenchFailure(description: "cannot run \(arguments[0])")
    }
    var usage = Usage()
    var status: Int32 = 0
    var resources = rusage()
    while wait4(child, &status, WNOHANG, &resources) == 0 {
      // wait4 would count the peak of whoever started the process, too.
      usage.peakMebibytes = max(
        usage.peakMebibytes, Machine.mebibytes("VmHWM", of: child))
      usleep(lookMicroseconds)
    }
    guard status == 0 else {
      throw BenchFailure(description: "candled run ended with status \(status >> 8)")
    }
    usage.cpuSeconds = Machine.seconds(resources.ru_utime) + Machine.seconds(resources.ru_stime)
    return usage
  }
}
