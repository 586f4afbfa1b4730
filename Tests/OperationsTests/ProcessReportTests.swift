import Foundation
import Glibc
import Testing

@testable import Operations

@Suite struct ProcessReportTests {
  @Test func `a name with blanks and parentheses shifts no field`() {
    let fields = (3...52).map { $0 == 3 ? "S" : "\($0 * 100)" }.joined(separator: " ")
    let report = ProcessReport(
      stat: "42 (candled) run (x) \(fields)", descriptors: 9, bootedAt: 1_000_000_000)
    let ticks = Int64(sysconf(Int32(_SC_CLK_TCK)))
    #expect(report.threads == 2000)
    #expect(report.residentBytes == 2400 * Int64(sysconf(Int32(_SC_PAGESIZE))))
    #expect(report.processorMicroseconds == 2900 * 1_000_000 / ticks)
    #expect(report.startedAtMicroseconds == 1_000_000_000 + 2200 * 1_000_000 / ticks)
    #expect(report.openDescriptors == 9)
  }

  @Test func `this process is alive and has a beginning`() {
    let report = ProcessReport()
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let age = Int64(now.tv_sec) - report.startedAtMicroseconds / 1_000_000
    #expect(report.residentBytes > 1 << 20 && report.threads >= 1 && report.openDescriptors >= 3)
    #expect((-1...86_400).contains(age))
  }

  @Test func `it began when the kernel says, without /proc/stat`() throws {
    let lines = try String(contentsOfFile: "/proc/stat", encoding: .utf8).split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("btime ") })
    let bootedAt = try #require(Int64(line.dropFirst("btime ".count)))
    #expect(abs(ProcessReport.bootedAt / 1_000_000 - bootedAt) <= 60)
  }

  @Test func `nothing known is nothing claimed`() {
    #expect(ProcessReport.none.startedAtMicroseconds == 0 && ProcessReport.none.threads == 0)
  }
}
