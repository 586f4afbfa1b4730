import Market

/// A valid configuration, broken or merely changed in a seeded way: what an editor, a script or a
/// disk may do to a file. Some mutants are valid; whether one is, is for candled to say, and for
/// its parts to agree on.
package struct MutatedConfiguration {
  private var random: SplitMix64
  private let lines: [String]

  /// - Parameter text: a valid configuration, a setting a line.
  package init(_ text: String, seed: UInt64) {
    random = SplitMix64(seed: seed)
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// The next mutant: one to three changes.
  package mutating func next() -> String {
    var mutant = lines
    for _ in 0..<Int.random(in: 1...3, using: &random) { change(&mutant) }
    return mutant.joined(separator: "\n")
  }

  private static let values = [
    "0", "-1", "1", "2", "60", "800", "99999999999999999999", "true", "\"\"", "\"3s\"",
    "\"1500ms\"",
    "\"2900ms\"", "\"59s\"", "\"json\"", "\"debug\"", "[]", "[\"sh600519\"]", "[\"sh600519\", 1]",
    "[\"nonsense symbol\"]", "\"/nonexistent/file\"", "1.5", "2026-07-06", "{ a = 1 }", "nan",
  ]

  private mutating func change(_ lines: inout [String]) {
    guard !lines.isEmpty else { return }
    let at = Int.random(in: lines.indices, using: &random)
    switch Int.random(in: 0..<9, using: &random) {
    case 0: lines.remove(at: at)
    case 1: lines.insert(lines[Int.random(in: lines.indices, using: &random)], at: at)
    case 2: lines.swapAt(at, Int.random(in: lines.indices, using: &random))
    case 3: lines[at] = String(lines[at].dropLast(Int.random(in: 0...4, using: &random)))
    case 4: lines[at] = flipped(lines[at])
    case 5:
      lines[at] += ["\"", "]", " = 1", "#", "\u{0}", " ", "é"].randomElement(using: &random) ?? ""
    default: lines[at] = revalued(lines[at])
    }
  }

  /// Another value for the same key: the mutant most likely to be valid, or almost.
  private mutating func revalued(_ line: String) -> String {
    guard let equals = line.firstIndex(of: "=") else { return flipped(line) }
    return line[...equals] + " " + (Self.values.randomElement(using: &random) ?? "0")
  }

  private mutating func flipped(_ line: String) -> String {
    var bytes = Array(line.utf8)
    guard !bytes.isEmpty else { return line }
    let at = Int.random(in: bytes.indices, using: &random)
    bytes[at] = UInt8.random(in: 0x20...0x7E, using: &random)
    return String(decoding: bytes, as: UTF8.self)
  }
}
