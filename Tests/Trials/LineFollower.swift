import Foundation
import Platform
import Postgres
import Reader
import TestSupport

/// `candled watch --json` of one database, from the first change on.
final class LineFollower {
  struct Line: Hashable {
    let seq: Int64
    let text: String

    var isRestart: Bool { text.contains("\"kind\":\"restarted\"") }
  }

  let name: String
  private let process: DaemonProcess

  private static let lookMicroseconds: useconds_t = 100_000

  init(_ name: String, of url: String, binary: String, folder: String) throws {
    self.name = name
    var settings = DaemonSettings()
    settings["store.url"] = "\"\(url)\""
    settings["admin.listen"] = "\"\""
    process = try DaemonProcess(
      binary: binary, folder: "\(folder)/\(name)", settings: settings,
      arguments: ["watch", "--json", "--after", "0"])
    try process.start()
  }

  deinit { end() }

  func end() { process.kill() }

  /// What it has printed once it has come so far; what it says on standard error is left out.
  func lines(through seq: Int64, secondsMax: Int) throws -> [Line] {
    let end = Date().addingTimeInterval(TimeInterval(secondsMax))
    while true {
      // The last line of a minute's change.
      let last = try lines(of: tail()).last { $0.text.contains("minute_complete") }
      if let last, last.seq >= seq {
        return try lines(of: String(contentsOfFile: process.log, encoding: .utf8))
      }
      guard Date() < end, process.isRunning else {
        throw TrialFailure(
          "the follower of the \(name) is at \(last?.seq ?? 0) of \(seq): \(process.logTail)")
      }
      usleep(Self.lookMicroseconds)
    }
  }

  /// Until it has said that the feed began anew.
  func awaitRestart(secondsMax: Int) throws {
    let end = Date().addingTimeInterval(TimeInterval(secondsMax))
    while try !lines(of: String(contentsOfFile: process.log, encoding: .utf8))
      .contains(where: \.isRestart)
    {
      guard Date() < end, process.isRunning else {
        throw TrialFailure("the follower of the \(name) did not begin anew: \(process.logTail)")
      }
      usleep(Self.lookMicroseconds)
    }
  }

  /// Who reads later finds a candle as it was revised since: each change must have named the same
  /// in the same order, and each candle must have come to the same.
  static func differences(of lines: [Line], from expected: [Line]) -> [String] {
    let (found, wanted) = (Said(lines), Said(expected))
    var differences: [String] = []
    if found.order != wanted.order {
      let first = zip(found.order, wanted.order).first { $0 != $1 }
      differences.append(
        "\(found.order.count) lines, not \(wanted.order.count), the first other one "
          + "\(first?.0 ?? "at the end"), not \(first?.1 ?? "")")
    }
    if found.last != wanted.last {
      let others = wanted.last.filter { found.last[$0.key] != $0.value }
      differences.append(
        "\(others.count) candles came to something else: "
          + others.keys.sorted().prefix(3).joined(separator: " "))
    }
    return differences
  }

  /// What each line is of, and what each candle was at last.
  private struct Said {
    var order: [Substring] = []
    var last: [Substring: Substring] = [:]

    init(_ lines: [Line]) {
      for line in lines {
        guard let name = line.text.firstRange(of: "\"symbol\""),
          let values = line.text.firstRange(of: ",\"open\":")
        else {
          order.append(line.text[...])
          continue
        }
        order.append(line.text[..<values.lowerBound])
        last[line.text[name.lowerBound..<values.lowerBound]] = line.text[values.lowerBound...]
      }
    }
  }

  private static let tailBytes: UInt64 = 4_096

  private func tail() throws -> String {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: process.log))
    defer { try? file.close() }
    let size = try file.seekToEnd()
    try file.seek(toOffset: size > Self.tailBytes ? size - Self.tailBytes : 0)
    return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
  }

  /// The first one may be the end of one, and the last one the beginning.
  private func lines(of text: String) -> [Line] {
    let whole = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    return whole.filter { $0.hasPrefix("{") }.compactMap { line in
      line.firstMatch(of: /"seq":([0-9]+)/).flatMap { Int64($0.output.1) }.map {
        Line(seq: $0, text: String(line))
      }
    }
  }
}

/// When a follower of a database was told of each change.
final class SeqWatch: Sendable {
  private let isOver = Locked(false)
  private let found = Locked<[Int64: Int64]>([:])
  private let thread: JoinableThread

  private static let waitMilliseconds: Int32 = 200

  init(url: String) throws {
    let start = try StoreReader(url: url).changes(after: nil).lastSeq
    let (isOver, found) = (isOver, found)
    thread = try JoinableThread(name: "seq-watch") {
      guard let reader = try? StoreReader(following: url) else { return }
      var seq = start
      while !isOver.withLock({ $0 }) {
        guard
          let reason = try? reader.wait(milliseconds: Self.waitMilliseconds, interrupt: -1),
          let last = try? reader.changes(after: nil).lastSeq
        else { return }
        let now = MonotonicClock.microseconds()
        // What came with a time-out was not hinted at.
        if reason == .notification, last > seq {
          found.withLock { found in for each in (seq + 1)...last { found[each] = now } }
        }
        seq = last
      }
    }
  }

  /// Microseconds of the monotonic clock, by seq.
  var moments: [Int64: Int64] { found.withLock { $0 } }

  func leave() {
    isOver.withLock { $0 = true }
    thread.join()
  }
}
