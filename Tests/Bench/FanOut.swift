/// Who follows what, and what changes in each sweep: the same in the process that serves and in the
/// one that follows, so that it is known which followers must get a message.

import Market
import TestSupport

enum FanOut {
  static let instruments = 5_400
  static let followersMax = 20_000
  private static let symbolsOfFollower = 20
  private static let changedShare = 0.3
  private static let exchanges = 2

  /// Half of them in Shanghai.
  static func symbol(_ place: Int) -> String {
    let number = place / exchanges
    return place % exchanges == 0 ? "sh\(600_000 + number)" : "sz00\(2_000 + number)"
  }

  static func places(of follower: Int) -> [Int] {
    var random = SplitMix(seed: UInt64(follower) + 1)
    var places: Set<Int> = []
    while places.count < symbolsOfFollower {
      places.insert(Int.random(in: 0..<instruments, using: &random))
    }
    return places.sorted()
  }

  static func changes(in sweep: Int) -> [Bool] {
    var random = SplitMix(seed: UInt64(sweep) << 32)
    return (0..<instruments).map { _ in Double.random(in: 0..<1, using: &random) < changedShare }
  }

  /// A client's first message, as the documents have it.
  static func subscription(of follower: Int) -> String {
    let symbols = places(of: follower).map { "\"\(symbol($0))\"" }.joined(separator: ",")
    return """
      {"action":"subscribe","channels":[{"name":"stock-prices","symbols":[\(symbols)]}]}
      """
  }
}
