import Admin
import Commits
import EmbeddedPostgres
import Feeds
import Market
import TestSupport
import Testing

@testable import Ingest

@Suite struct DueItemTests {
  private static func report(_ change: (inout EngineReport) -> Void) -> DaemonReport {
    var engine = Sample.engine()
    engine.symbols = 1
    engine.calendar.daysLeft = 178
    change(&engine)
    return Sample.leading(engine)
  }

  @Test func `all ends are in one list, the earliest first, each with what to do`() {
    let due = Sample.full().due
    #expect(due.map(\.day) == due.map(\.day).sorted() && due.count >= 6)
    #expect(due.map(\.kind).prefix(2) == [.shanghaiCalendar, .identity])
    #expect(due.allSatisfy { $0.what.count > 10 && $0.remedy.count > 20 })
    let ends = Sample.full().ends
    #expect(Set(ends.map(\.kind)) == Set(DueItem.Kind.allCases))
  }

  @Test func `an end is listed 400 days ahead, and not earlier`() throws {
    var report = Self.report { _ in }
    report.privateServer = PrivateServer()
    report.privateServer?.major = 15
    report.privateServer?.maintainedUntil = Sample.now.shanghaiDay.advanced(by: 401)
    #expect(report.due.map(\.kind) == [.shanghaiCalendar] && report.ends.count == 2)
    report.privateServer?.maintainedUntil = Sample.now.shanghaiDay.advanced(by: 400)
    #expect(report.due.map(report.daysLeft) == [178, 400])
    report.privateServer?.major = nil
    #expect(report.ends.count == 1)
  }

  /// It is requested each day, 400 days ahead.
  @Test func `New York's calendar is due once its days are no longer added`() {
    let today = Sample.now.shanghaiDay
    let whole = Self.report { $0.calendar.newYorkEnd = today.advanced(by: 398) }
    #expect(whole.due.map(\.kind) == [.shanghaiCalendar])
    let late = Self.report { $0.calendar.newYorkEnd = today.advanced(by: 365) }
    #expect(late.due.map(\.kind) == [.shanghaiCalendar, .newYorkCalendar])
  }

  @Test func `a contradicted factor is to be looked at within a month`() {
    let report = Self.report {
      $0.status.store.contradictedFactors.instruments = 1
      $0.status.store.contradictedFactors.lastDay = $0.now.shanghaiDay
    }
    #expect(report.due.first?.kind == .factors && report.daysLeft(report.due[0]) == 30)
    #expect(report.due.first?.what == "factors of 1 instrument contradict the exchange")
  }

  @Test func `of all hosts the one is listed whose authority ends first`() {
    var report = Self.report { _ in }
    report.authorityEnds = [
      "a.example": Sample.now.adding(seconds: 40 * 86_400),
      "b.example": Sample.now.adding(seconds: 20 * 86_400),
    ]
    #expect(report.due.first?.kind == .certificate && report.daysLeft(report.due[0]) == 20)
    #expect(report.due[0].what == "the root certificate by which b.example is verified ends")
  }

  /// Timers do both: what is late alone needs a person.
  /// The timers' longest pauses are 35 and 98 days.
  @Test func `a copy is due once its timer missed it, a drill at once after a failed one`() {
    var report = Self.report { _ in }
    report.privateServer = PrivateServer()
    func listed(baseDaysAgo: Int64, drillDaysAgo: Int64, hasPassed: Bool = true) -> [DueItem.Kind] {
      report.privateServer?.backup = BackupState(
        baseAt: Sample.now.adding(seconds: -baseDaysAgo * 86_400), waitingSegments: 0,
        drill: DrillResult(
          at: Sample.now.adding(seconds: -drillDaysAgo * 86_400), hasPassed: hasPassed,
          sentence: ""))
      return report.due.map(\.kind).filter { $0 == .backup || $0 == .drill }
    }
    #expect(listed(baseDaysAgo: 35, drillDaysAgo: 98) == [])
    #expect(listed(baseDaysAgo: 36, drillDaysAgo: 98) == [.backup])
    #expect(listed(baseDaysAgo: 1, drillDaysAgo: 99) == [.drill])
    #expect(listed(baseDaysAgo: 1, drillDaysAgo: 1, hasPassed: false) == [.drill])
    report.privateServer?.backup = BackupState(
      baseAt: Sample.now, waitingSegments: 0, drill: nil)
    report.privateServer?.backup?.hole = "a segment is missing."
    #expect(
      report.due.contains {
        $0.kind == .backup && $0.what == "nothing new can be restored, a segment is missing."
      })
    report.privateServer?.backup = BackupState(baseAt: nil, waitingSegments: 0, drill: nil)
    #expect(report.due.map(\.kind).contains(.backup))
  }

  @Test func `of the disks the one is listed that is full first`() {
    var report = Self.report { _ in }
    let today = Sample.now.shanghaiDay
    report.disks = [
      DiskForecast(name: "journal", freeBytes: 1, fullOn: today.advanced(by: 8)),
      DiskForecast(name: "database", freeBytes: 1, fullOn: today.advanced(by: 7)),
    ]
    #expect(report.due.first?.what == "the disk of the database is full, as it fills now")
    report.disks[1].fullOn = nil
    #expect(report.due.first?.what == "the disk of the journal is full, as it fills now")
  }

  @Test func `of licences the one is listed that ends first, by the name of its source`() {
    var report = Self.report { _ in }
    let today = Sample.now.shanghaiDay
    report.keyEnds = ["one": today.advanced(by: 9), "two": today.advanced(by: 8)]
    #expect(report.due.first?.kind == .licence)
    #expect(report.due.first?.what == "the licence of two ends")
  }

  @Test func `where no market is polled no calendar ends`() {
    #expect(Self.report { $0.symbols = 0 }.due.isEmpty)
  }
}
