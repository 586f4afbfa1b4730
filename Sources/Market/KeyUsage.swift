/// What one key of a source has been used for on one day: a row of `api_key_usage`.
///
/// It is written, and journaled, before the request it counts is sent, and carries all that the
/// ring must know after a crash. The label names the key in the configuration; the key itself is
/// never in it.

/// Why a key is not used for a while. The raw value is stored.
public enum KeyParking: Int16, Sendable, CaseIterable {
  /// The day's requests are used up, by our ledger or by the source's.
  case quota = 1
  /// Too many requests in a short time, or from too many addresses.
  case rateLimit = 2
  /// The source does not know the key, or no longer.
  case invalidLicence = 3
  /// The source answers it with sample data.
  case demoLicence = 4

  public var name: String {
    switch self {
    case .quota: "quota"
    case .rateLimit: "rate_limit"
    case .invalidLicence: "invalid_licence"
    case .demoLicence: "demo_licence"
    }
  }
}

public struct KeyUsage: Sendable, Hashable {
  public var source: Source
  /// Of the key in the configuration, as `isLabel` says.
  public var label: String
  /// The Shanghai date.
  public var day: TradingDay
  /// Sent that day, the one that is about to be sent included.
  public var requests: Int
  /// Both or neither.
  public var parkedUntil: Timestamp?
  public var parkedReason: KeyParking?
  /// When that was written down; nil before it is.
  public var recordedAt: Timestamp?

  public init(
    source: Source, label: String, day: TradingDay, requests: Int, parkedUntil: Timestamp? = nil,
    parkedReason: KeyParking? = nil
  ) {
    self.source = source
    self.label = label
    self.day = day
    self.requests = requests
    self.parkedUntil = parkedUntil
    self.parkedReason = parkedReason
  }

  /// Leaves room for `key/alpaca_iex/` in a journal key of 64 bytes.
  public static let labelBytesMax = 32

  /// 1…32 of `a–z A–Z 0–9 - _ .`.
  public static func isLabel(_ text: String) -> Bool {
    text.utf8.count <= labelBytesMax && text.wholeMatch(of: /[a-zA-Z0-9_.\-]+/) != nil
  }
}
