import TestSupport

extension SplitMix {
  /// `line` with one to three bits flipped, or a byte overwritten, dropped or doubled.
  /// - Parameter alphabet: what else stands in such lines.
  mutating func damaged(_ line: [UInt8], alphabet: String) -> [UInt8] {
    var line = line
    for _ in 0..<Int.random(in: 1...3, using: &self) {
      let place = Int.random(in: 0..<line.count, using: &self)
      switch Int.random(in: 0..<8, using: &self) {
      case 0: line[place] = UInt8.random(in: 0...255, using: &self)
      case 1: line[place] = Array(alphabet.utf8).randomElement(using: &self) ?? 0
      case 2 where line.count > 1: line.remove(at: place)
      case 3: line.insert(line[place], at: place)
      default: line[place] ^= 1 << UInt8.random(in: 0...7, using: &self)
      }
    }
    return line
  }
}
