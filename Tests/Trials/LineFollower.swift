import Foundation
import Platform
import Postgres
import Reader
import TestSupport

/// `candled watch --json` of one database, from the first change on. There are hundreds of
/// thousands of lines: each is read once, and kept as what it takes to compare it.
final class LineFollower {
  struct Line {
    let seq: Int64
    /// Of a candle all but its values.
    let text: String
    /// Of a candle which one it is, and a hash of its values.
    let candle: (name: Substring, values: Int)?

    var isRestart: Bool { candle == nil && text.contains("\"kind\":\"restarted\"") }
    var isSkipped: Bool { candle == nil && text.contains("\"kind\":\"skipped\"") }
    /// The last line of a minute's change.
    var endsMinute: Bool { candle == nil && text.contains("\"kind\":\"minute_complete\"") }

    /// nil for what it says on standard error.
    init?(_ bytes: Data) {
      guard bytes.first == UInt8(ascii: "{"), let label = bytes.range(of: Self.seqLabel),
        let seq = Int64(
          String(decoding: bytes[label.upperBound...].prefix { 48...57 ~= $0 }, as: UTF8.self))
      else { return nil }
      self.seq = seq
      guard let name = bytes.range(of: Self.symbolLabel),
        let values = bytes.range(of: Self.openLabel)
      else {
        text = String(decoding: bytes, as: UTF8.self)
        candle = nil
        return
      }
      text = String(decoding: bytes[..<values.lowerBound], as: UTF8.self)
      var hasher = Hasher()
      bytes[values.lowerBound...].withUnsafeBytes { hasher.combine(bytes: $0) }
      let named = text.utf8.index(
        text.startIndex, offsetBy: name.lowerBound - bytes.startIndex)
      candle = (text[named...], hasher.finalize())
    }

    private static let seqLabel = Data("\"seq\":".utf8)
    private static let symbolLabel = Data("\"symbol\"".utf8)
    private static let openLabel = Data(",\"open\":".utf8)
  }

  let name: String
  private let process: DaemonProcess
  private var lines: [Line] = []
  /// Bytes of its log that were read.
  private var offset: UInt64 = 0
  private var lastMinute: Int64 = 0

  private static let lookMicroseconds: useconds_t = 100_000
  private static let blockBytes = 1 << 22

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

  /// What it has printed once it has come so far.
  func lines(through seq: Int64, secondsMax: Int) throws -> [Line] {
    try wait(secondsMax: secondsMax, for: "change \(seq)") { lastMinute >= seq }
    return lines
  }

  /// Until it has said that the feed began anew.
  func awaitRestart(secondsMax: Int) throws {
    try wait(secondsMax: secondsMax, for: "a restart") { lines.contains(where: \.isRestart) }
  }

  private func wait(secondsMax: Int, for what: String, until isSo: () -> Bool) throws {
    let end = Date().addingTimeInterval(TimeInterval(secondsMax))
    while true {
      try readOn()
      if isSo() { return }
      guard Date() < end, process.isRunning else {
        throw TrialFailure(
          "the follower of the \(name) is at \(lastMinute), waiting for \(what): "
            + process.logTail)
      }
      usleep(Self.lookMicroseconds)
    }
  }

  /// Whole lines that were printed since.
  private func readOn() throws {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: process.log))
    defer { try? file.close() }
    while true {
      try file.seek(toOffset: offset)
      let block = try file.read(upToCount: Self.blockBytes) ?? Data()
      guard let last = block.lastIndex(of: UInt8(ascii: "\n")) else { return }
      let whole = block[...last]
      for line in whole.split(separator: UInt8(ascii: "\n")).compactMap(Line.init) {
        lines.append(line)
        if line.endsMinute { lastMinute = line.seq }
      }
      offset += UInt64(whole.count)
    }
  }

  /// Who reads later finds a candle as it was revised since: each change must have named the same
  /// in the same order, and each candle must have come to the same.
  static func differences(of lines: [Line], from expected: [Line]) -> [String] {
    let order = zip(lines, expected).first { $0.text != $1.text }
    var differences: [String] = []
    if lines.count != expected.count || order != nil {
      differences.append(
        "\(lines.count) lines, not \(expected.count), the first other one "
          + "\(order?.0.text ?? "at the end"), not \(order?.1.text ?? "")")
    }
    let (found, wanted) = (last(of: lines), last(of: expected))
    if found != wanted {
      let others = wanted.filter { found[$0.key] != $0.value }
      differences.append(
        "\(others.count) candles came to something else: "
          + others.keys.sorted().prefix(3).joined(separator: " "))
    }
    return differences
  }

  /// What each candle was at last.
  private static func last(of lines: [Line]) -> [Substring: Int] {
    Dictionary(lines.compactMap { $0.candle.map { ($0.name, $0.values) } }) { $1 }
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
