/// Reads a configuration strictly: a key nobody knows is an error, not a default quietly kept.
/// All problems are found before any is reported. The files in `conf.d` beside it are read after it
/// (see `DropIns`).

import Glibc
import Market
import TOMLKit

package enum ConfigurationFile {
  /// Far above any honest configuration, a list of the whole market included.
  package static let bytesMax = 1 << 20

  /// The settings of the file at `path`, then of its drop-ins, then `overrides` of the form
  /// `key=value` on top. nil reads no file. Throws all that is wrong, with files and lines.
  package static func load(
    _ path: String?, overrides: [String] = [], table: SettingTable = .shared
  ) throws(ConfigurationError) -> Settings {
    var settings = Settings(table)
    var problems: [ConfigurationProblem] = []
    for file in try path.map(files) ?? [] {
      problems += apply(try read(file), origin: file, to: &settings)
    }
    for override in overrides { problems += apply(override: override, to: &settings) }
    if problems.isEmpty { problems = settings.brokenRules() }
    guard problems.isEmpty else { throw ConfigurationError(code: .invalid, problems: problems) }
    return settings
  }

  /// The file at `path` and its drop-ins, in the order they are read.
  /// - Throws: `unreadable` for a folder of drop-ins that cannot be read or holds too many.
  package static func files(of path: String) throws(ConfigurationError) -> [String] {
    try DropIns.files(of: path)
  }

  /// The settings that `text` makes; `origin` names it in problems.
  package static func parse(
    _ text: String, origin: String, table: SettingTable = .shared
  ) throws(ConfigurationError) -> Settings {
    var settings = Settings(table)
    var problems = apply(text, origin: origin, to: &settings)
    if problems.isEmpty { problems = settings.brokenRules() }
    guard problems.isEmpty else { throw ConfigurationError(code: .invalid, problems: problems) }
    return settings
  }

  private static func apply(
    override: String, to settings: inout Settings
  ) -> [ConfigurationProblem] {
    let parts = override.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else {
      // What stands there may be a secret: it is not repeated.
      return [ConfigurationProblem(origin: "--set", key: nil, sentence: "expected key=value")]
    }
    do throws(ConfigurationError) {
      try settings.overlay(key: String(parts[0]), value: String(parts[1]))
      return []
    } catch {
      return error.problems
    }
  }

  private static func apply(
    _ text: String, origin: String, to settings: inout Settings
  ) -> [ConfigurationProblem] {
    let scan = TOMLScan(text)
    if let fault = scan.fault {
      return [
        ConfigurationProblem(
          origin: origin, line: fault.line, key: nil, sentence: "not TOML: \(fault.sentence)")
      ]
    }
    let table: TOMLTable
    do {
      table = try TOMLTable(string: text)
    } catch let error as TOMLParseError {
      return [
        ConfigurationProblem(
          origin: origin, line: error.source.begin.line, key: nil,
          sentence: "not TOML: \(error.description)")
      ]
    } catch {
      return [ConfigurationProblem(origin: origin, key: nil, sentence: "not TOML")]
    }
    let reading = Reading(origin: origin, lines: scan.lines)
    let problems = reading.problems(of: table, at: [], in: &settings)
    return problems.sorted { ($0.line ?? 0, $0.key ?? "") < ($1.line ?? 0, $1.key ?? "") }
  }

  /// - Parameter check: of the file as it was opened.
  static func read(
    _ path: String, check: (stat) throws(ConfigurationError) -> Void = { _ in }
  ) throws(ConfigurationError) -> String {
    func unreadable(_ sentence: String) -> ConfigurationError {
      ConfigurationError(
        code: .unreadable,
        problems: [ConfigurationProblem(origin: path, key: nil, sentence: sentence)])
    }
    guard let file = fopen(path, "re") else {
      throw unreadable("cannot be opened: \(String(cString: strerror(errno)))")
    }
    defer { fclose(file) }
    var status = stat()
    guard fstat(fileno(file), &status) == 0 else {
      throw unreadable("cannot be read: \(String(cString: strerror(errno)))")
    }
    try check(status)
    var bytes = [UInt8](repeating: 0, count: bytesMax + 1)
    let count = fread(&bytes, 1, bytes.count, file)
    guard ferror(file) == 0 else {
      throw unreadable("cannot be read: \(String(cString: strerror(errno)))")
    }
    guard count <= bytesMax else { throw unreadable("is larger than \(bytesMax) bytes") }
    guard let text = String(validating: bytes[..<count], as: UTF8.self) else {
      throw unreadable("is not UTF-8")
    }
    return text
  }
}

/// One walk over a parsed file.
private struct Reading {
  let origin: String
  let lines: [String: Int]

  func problems(
    of table: TOMLTable, at path: [String], in settings: inout Settings
  ) -> [ConfigurationProblem] {
    table.keys.flatMap { name -> [ConfigurationProblem] in
      guard let value = table[name] else { return [] }
      return problems(of: value, at: path + [name], in: &settings)
    }
  }

  private func problems(
    of value: any TOMLValueConvertible, at path: [String], in settings: inout Settings
  ) -> [ConfigurationProblem] {
    let key = path.joined(separator: ".")
    if let setting = settings.table[key] {
      let problem = settings.set(
        setting, to: input(of: value), origin: origin, line: line(of: path))
      return [problem].compactMap { $0 }
    }
    let isSection = settings.table.rows.contains { $0.key.hasPrefix(key + ".") }
    if let table = value.table, isSection || !table.isEmpty {
      return problems(of: table, at: path, in: &settings)
    }
    guard !isSection else {
      return [
        ConfigurationProblem(
          origin: origin, line: line(of: path), key: key, sentence: "is a section, not a setting")
      ]
    }
    return [settings.table.unknown(key, origin: origin, line: line(of: path))]
  }

  /// The line of the key, or of the nearest thing around it: keys inside an inline table have the
  /// table's.
  private func line(of path: [String]) -> Int? {
    for count in stride(from: path.count, to: 0, by: -1) {
      if let line = lines[path.prefix(count).joined(separator: ".")] { return line }
    }
    return nil
  }

  private func input(of value: any TOMLValueConvertible) -> SettingInput {
    if let text = value.string { return .string(text) }
    if let boolean = value.bool { return .boolean(boolean) }
    if let number = value.int { return .integer(Int64(number)) }
    if let array = value.array {
      let strings = array.compactMap(\.string)
      return strings.count == array.count ? .strings(strings) : .other("a list of other values")
    }
    switch value.type {
    case .date, .dateTime, .time: return .other("a bare date; put it in quotes")
    case .double: return .other("a fraction")
    case .table: return .other("a section")
    default: return .other("another kind of value")
    }
  }
}
