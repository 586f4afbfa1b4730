import Market

/// What a token allows.
package enum TokenScope: String, Sendable, CaseIterable {
  /// Quotes, candles and all else that is read of the market.
  case market
  /// The user's own lists, preferences and portfolios.
  case account
  /// Orders, deposits and withdrawals, on paper.
  case trade
  /// The gateway's own state.
  case admin
}

/// What an app shows to be let in: `cndl_` and 32 random bytes in base 62. It exists in the app,
/// and here for as long as it takes to print or to look it up; it must never be stored or logged,
/// so it does not print itself.
package struct TokenSecret: Sendable {
  private let text: String

  package static let prefix = "cndl_"
  private static let randomBytes = 32
  /// 62^43 > 2^256.
  private static let digitCount = 43
  private static let digits = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
  private static let digitBytes = Set(digits.compactMap(\.asciiValue))

  /// A new one. The generator must be fit for secrets; the system's is.
  package init(using generator: inout some RandomNumberGenerator) {
    let bytes = (0..<Self.randomBytes).map { _ in UInt8.random(in: 0...255, using: &generator) }
    self.init(random: bytes)
  }

  init(random bytes: [UInt8]) {
    var number = bytes
    var text = ""
    for _ in 0..<Self.digitCount {
      var remainder = 0
      for place in number.indices {
        let value = remainder << 8 | Int(number[place])
        number[place] = UInt8(value / 62)
        remainder = value % 62
      }
      text.append(Self.digits[remainder])
    }
    self.text = Self.prefix + String(text.reversed())
  }

  /// nil of what cannot be one of ours: nothing is hashed for that.
  package init?(_ text: some StringProtocol) {
    let isOurs =
      text.utf8.count == Self.prefix.utf8.count + Self.digitCount && text.hasPrefix(Self.prefix)
      && text.utf8.dropFirst(Self.prefix.utf8.count).allSatisfy(Self.digitBytes.contains)
    guard isOurs else { return nil }
    self.text = String(text)
  }

  package var digest: TokenDigest { SHA256.digest(of: text.utf8) }

  /// The characters: for printing it once, to who made it.
  package func reveal() -> String { text }
}

extension TokenSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "<token>" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// A row of `token`.
package struct Token: Sendable, Hashable {
  package var id: Int64
  package var userID: Int64
  package var user: String
  /// Which device or program has it.
  package var name: String
  package var scopes: Set<TokenScope>
  package var createdAt: Timestamp
  package var expiresAt: Timestamp?
  package var lastUsedDay: TradingDay?
  package var revokedAt: Timestamp?

  package init(
    id: Int64, userID: Int64, user: String, name: String, scopes: Set<TokenScope>,
    createdAt: Timestamp, expiresAt: Timestamp? = nil, lastUsedDay: TradingDay? = nil,
    revokedAt: Timestamp? = nil
  ) {
    self.id = id
    self.userID = userID
    self.user = user
    self.name = name
    self.scopes = scopes
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    self.lastUsedDay = lastUsedDay
    self.revokedAt = revokedAt
  }
}
