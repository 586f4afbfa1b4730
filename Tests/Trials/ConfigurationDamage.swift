import Foundation
import Ingest
import Market
import Operations
import TestSupport

/// What hands, programs and disks do to a configuration: to the file, to what is beside it, or to
/// what both are.
struct ConfigurationDamage {
  enum Kind: String, CaseIterable {
    case lineGone = "line gone"
    case lineTwice = "line twice"
    case lineCommented = "line commented"
    case noEquals = "no equals sign"
    case reversed
    case numberChanged = "number changed"
    case otherValue = "other value"
    case unknownKey = "unknown key"
    case strayTable = "stray table"
    case bytes = "bytes changed"
    case folder = "a folder instead"
    case gone = "file gone"
    case dropIn = "conf.d"
    case dropInFolder = "conf.d holds a folder"
    case dropInDangling = "conf.d holds a dead link"
    case dropInNoText = "conf.d holds no text"
    case dropInFile = "conf.d is a file"
    case dropInCrowd = "conf.d is crowded"
  }

  let kind: Kind
  private let text: Data
  /// Of a file in `conf.d`, for those kinds.
  private let piece: Data

  /// More than are read (`DropIns.filesMax`).
  private static let crowd = 70
  /// Wrong types, bounds and what is just beyond them, in every kind of setting.
  private static let values = [
    "0", "1", "-1", "59", "60", "61", "600", "601", "800", "801", "16777216", "9223372036854775807",
    "99999999999999999999", "1e9", "0x10", "1.5", "nan", "true", "2026-07-06", "{ a = 1 }", "[]",
    "[1]", "[\"sh600519\", 1]", "[\"no symbol\"]", "\"\"", "\"0s\"", "\"1s\"", "\"3s\"", "\"1m\"",
    "\"61s\"", "\"99999999999999999999s\"", "\"2500\"", "\"64MiB\"", "\"63MiB\"", "\"json\"",
    "\"trace\"", "\"/nonexistent/file\"", "\"credential:none\"", "\"\"\"", "\"\\u0000\"",
  ]

  /// Addresses, the clock and the store stay: what is left of the file must not ask anybody but
  /// the exchange.
  private static func isProtected(_ line: some StringProtocol) -> Bool {
    ["clock.", "admin.", "state_directory", "store."].contains(where: line.hasPrefix)
      || line.contains("base")
  }

  init(_ sound: String, _ random: inout SplitMix) {
    let lines = sound.split(separator: "\n", omittingEmptySubsequences: true)
    let kept = lines.filter { Self.isProtected($0) }.joined(separator: "\n") + "\n"
    var rest = lines.filter { !Self.isProtected($0) }.map(String.init)
    let place = Int.random(in: 0..<rest.count, using: &random)
    kind = Kind.allCases.randomElement(using: &random) ?? .lineGone
    piece = Data(Self.piece(&random).utf8)
    switch kind {
    case .lineGone: rest.remove(at: place)
    case .lineTwice:
      rest.insert(rest[place], at: Int.random(in: 0...rest.count, using: &random))
    case .lineCommented: rest[place] = "# " + rest[place]
    case .noEquals: rest[place] = rest[place].replacing("=", with: "")
    case .reversed: rest[place] = String(rest[place].reversed())
    case .numberChanged: rest[place] = Self.number(in: rest[place], &random)
    case .otherValue:
      let key = rest[place].prefix { $0 != "=" }
      rest[place] = key + "= " + (Self.values.randomElement(using: &random) ?? "0")
    case .unknownKey: rest[place].insert("x", at: rest[place].startIndex)
    case .strayTable:
      rest.append("[\(["sina", "nothing", "log", "\"\""].randomElement(using: &random) ?? "")]")
    case .bytes:
      text = Data(kept.utf8) + Self.bytes(Array(rest.joined(separator: "\n").utf8), &random)
      return
    default: break
    }
    text = Data((kept + rest.joined(separator: "\n") + "\n").utf8)
  }

  /// A setting for a drop-in: any that is not protected, with any value.
  private static func piece(_ random: inout SplitMix) -> String {
    let keys =
      SettingTable.candled.rows.filter(\.isLive).map(\.key) + [
        "candles.max_silence", "universe.follow", "sina.nothing", "log.levle",
      ]
    let key = keys.randomElement(using: &random) ?? "log.level"
    return "\(key) = \(values.randomElement(using: &random) ?? "0")\n"
  }

  // MARK: Files

  private static func dropIns(of path: String) -> String {
    URL(fileURLWithPath: path).deletingLastPathComponent().path + "/conf.d"
  }

  func strike(_ path: String) throws {
    let files = FileManager.default
    let folder = Self.dropIns(of: path)
    let one = folder + "/50-damage.toml"
    try text.write(to: URL(fileURLWithPath: path), options: .atomic)
    func makeFolder(_ path: String) throws {
      try files.createDirectory(atPath: path, withIntermediateDirectories: true)
    }
    switch kind {
    case .gone, .folder:
      try files.removeItem(atPath: path)
      if kind == .folder { try makeFolder(path) }
    case .dropIn:
      try makeFolder(folder)
      try piece.write(to: URL(fileURLWithPath: one))
    case .dropInFolder: try makeFolder(one)
    case .dropInDangling:
      try makeFolder(folder)
      try files.createSymbolicLink(atPath: one, withDestinationPath: "/nonexistent/file")
    case .dropInNoText:
      try makeFolder(folder)
      try Data([0xFF, 0xFE, 0x00]).write(to: URL(fileURLWithPath: one))
    case .dropInFile: try piece.write(to: URL(fileURLWithPath: folder))
    case .dropInCrowd:
      try makeFolder(folder)
      for number in 0..<Self.crowd {
        try Data().write(to: URL(fileURLWithPath: "\(folder)/\(number).toml"))
      }
    default: break
    }
  }

  /// Nothing of it is left.
  func mend(_ path: String, _ sound: String) throws {
    try? FileManager.default.removeItem(atPath: Self.dropIns(of: path))
    if kind == .folder { try FileManager.default.removeItem(atPath: path) }
    try Data(sound.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
  }

  // MARK: Text

  /// A number of the line, if there is one, becomes another.
  private static func number(in line: String, _ random: inout SplitMix) -> String {
    let others = ["0", "-1", "1", "7", "59", "600", "99999999999999999999", "1e9", "0x10", "१"]
    guard let first = line.firstIndex(where: \.isNumber) else { return line + " 1" }
    let end = line[first...].firstIndex { !$0.isNumber } ?? line.endIndex
    var line = line
    line.replaceSubrange(first..<end, with: others.randomElement(using: &random) ?? "")
    return line
  }

  /// Some bytes lost, changed, or the end of it gone.
  private static func bytes(_ bytes: [UInt8], _ random: inout SplitMix) -> Data {
    var bytes = bytes
    for _ in 0...Int.random(in: 0..<3, using: &random) {
      let place = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0..<3, using: &random) {
      case 0: bytes.remove(at: place)
      case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
      default: bytes.removeSubrange(max(place, bytes.count - 40)...)
      }
    }
    return Data(bytes)
  }
}
