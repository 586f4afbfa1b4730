import Market

/// Bodies cut and bits flipped, each decoded and judged: nothing traps, and what is not refused is
/// plausible.
package struct DamageTrial: Sendable {
  /// How many bodies came to which class, and what was wrong.
  package struct Tally: Sendable {
    package private(set) var bodies = 0
    package private(set) var classes: [String: Int] = [:]
    package private(set) var rows = 0
    package private(set) var refusedRows = 0
    /// The first of them, with what reproduces it.
    package private(set) var complaints: [String] = []

    private static let complaintsMax = 50

    mutating func take(_ verdict: Probe.Verdict, of source: @autoclosure () -> String) {
      bodies += 1
      classes[verdict.word, default: 0] += 1
      rows += verdict.rows
      refusedRows += verdict.refusedRows
      for complaint in verdict.complaints where complaints.count < Tally.complaintsMax {
        complaints.append("\(source()): \(complaint)")
      }
    }

    /// `ok 812, malformed 31`, the most frequent first.
    package var summary: String {
      classes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
  }

  package let bodies: [HostileBody]

  package init() throws(HostileBody.Missing) { bodies = try HostileBody.all() }

  /// Every prefix of every body, the empty one and the whole included.
  package func prefixes() -> Tally {
    var tally = Tally()
    for body in bodies {
      for cut in 0...body.bytes.count {
        let verdict = body.bytes.withUnsafeBytes {
          body.probe.classify(UnsafeRawBufferPointer(rebasing: $0[..<cut]), status: 200)
        }
        tally.take(verdict, of: "\(body.name) as \(body.probe.name) cut at \(cut)")
      }
    }
    return tally
  }

  /// `count` bodies with one to eight bits flipped, the bodies in turn. The seed decides which.
  package func flips(count: Int, seed: UInt64) -> Tally {
    var tally = Tally()
    var random = SplitMix64(seed: seed)
    for number in 0..<count {
      let body = bodies[number % bodies.count]
      guard !body.bytes.isEmpty else { continue }
      var bytes = body.bytes
      for _ in 0..<Int.random(in: 1...DamageTrial.bitsMax, using: &random) {
        let bit = Int.random(in: 0..<bytes.count * 8, using: &random)
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      }
      tally.take(
        body.probe.classify(bytes),
        of: "\(body.name) as \(body.probe.name), flip \(number) of seed \(seed)")
    }
    return tally
  }

  private static let bitsMax = 8
}
