import Ledgers
import Market

/// Orders on paper against a real book: what the model calls certain is never more than what the
/// same order got in a copy of the book, and at the limit price hardly less.
package struct FillsTrial: Sendable {
  let queues: Int
  let passives: Int
  package let seed: UInt64
  /// Of what the truth fills at the limit price, so many thousandths must be certain.
  package var shareMin: Int64 = 950
  /// So many have reversals, by chance, in each seed.
  private static let ordersForReversalsMin = 4_000
  /// Adds a fault to every certain fill: the trial must then fail.
  package var isBroken = false
  /// Judges version 1 of the model, whose bound does not hold: the trial must then fail.
  package var isFormer = false

  package init(queues: Int, passives: Int, seed: UInt64) {
    self.queues = queues
    self.passives = passives
    self.seed = seed
  }

  /// What happens to the snapshots on their way.
  package enum Condition: String, CaseIterable, Sendable {
    case whole
    case dropped = "30 % dropped"
    case falseRows = "false and stale rows"
    case coarse
    case killed = "30 % dropped, false, killed"
  }

  package struct Verdict: Sendable {
    package var complaints: [String] = []
    package var rows: [(name: String, tally: Tally)] = []

    package var table: [String] {
      [Tally.heading] + rows.map { "\($0.name.padded(to: 36))\($0.tally.line)" }
    }
  }

  package func run() -> Verdict {
    var verdict = Verdict()
    var reversed = 0
    for scene in OrderFlow.Scene.allCases {
      let isQueue = scene == .limitQueue
      let name = Self.name(of: scene)
      let count = isQueue ? queues : passives
      var total = Tally()
      for (place, condition) in Condition.allCases.enumerated() {
        var tally = Tally()
        for number in stride(from: place, to: count, by: Condition.allCases.count) {
          var run = FillsRun(
            scene: scene, condition: condition,
            seed: SplitMix64.mixed(seed &* 1_000_003 &+ UInt64(number) &* 2 &+ (isQueue ? 1 : 0)))
          (run.isBroken, run.isFormer) = (isBroken, isFormer)
          run.run()
          tally.add(run.tally)
          verdict.complaints += run.complaints.map {
            "\(name) \(number), \(condition.rawValue): \($0)"
          }
        }
        total.add(tally)
        verdict.rows.append(("\(name), \(condition.rawValue)", tally))
      }
      verdict.rows.append(("\(name), all", total))
      if isQueue, total.sharePerMille < shareMin {
        verdict.complaints.append(
          "at limit-up \(total.sharePerMille) ‰ of what truth fills is certain, not \(shareMin)")
      }
      if total.truth == 0 { verdict.complaints.append("\(name): nothing was filled") }
      reversed += total.reversed
    }
    if queues >= Self.ordersForReversalsMin, reversed == 0 {
      verdict.complaints.append("nothing was reversed: the trial does not prove that it is")
    }
    return verdict
  }

  private static func name(of scene: OrderFlow.Scene) -> String {
    switch scene {
    case .limitQueue: "limit-up"
    case .twoSided: "passive"
    case .chain: "chain"
    }
  }
}

extension FillsTrial {
  package struct Tally: Sendable {
    package internal(set) var orders = 0
    var intervals = 0
    /// Shares, by the model and in the book.
    package internal(set) var certain: Int64 = 0
    package internal(set) var truth: Int64 = 0
    var possible: Int64 = 0
    /// Orders that were filled whole.
    var wholeCertain = 0
    var wholeTruth = 0
    package internal(set) var reversed = 0
    var dropped = 0

    mutating func add(_ other: Tally) {
      orders += other.orders
      intervals += other.intervals
      certain += other.certain
      truth += other.truth
      possible += other.possible
      wholeCertain += other.wholeCertain
      wholeTruth += other.wholeTruth
      reversed += other.reversed
      dropped += other.dropped
    }

    package var sharePerMille: Int64 { truth == 0 ? 0 : certain * 1000 / truth }

    static let heading =
      "".padded(to: 36)
      + ["orders", "intervals", "true", "certain", "‰", "possible", "whole", "of", "reversed"]
      .map { $0.aligned(to: 12) }.joined()

    var line: String {
      [
        "\(orders)", "\(intervals)", "\(truth)", "\(certain)", "\(sharePerMille)", "\(possible)",
        "\(wholeCertain)", "\(wholeTruth)", "\(reversed)",
      ].map { $0.aligned(to: 12) }.joined()
    }
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(width - count, 0))
  }

  fileprivate func aligned(to width: Int) -> String {
    String(repeating: " ", count: max(width - count, 0)) + self
  }
}
