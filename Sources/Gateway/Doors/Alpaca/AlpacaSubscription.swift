/// What a client of Alpaca's stream follows, under the names that it uses, and what of the
/// gateway's own channels that needs.

struct AlpacaSubscription: Sendable {
  struct Symbols: Sendable {
    /// The client's spelling by our symbol.
    var names: [String: String] = [:]
    /// `*`
    var hasAll = false

    /// As the client calls a symbol; nil if it does not follow it.
    func name(of symbol: String) -> String? { names[symbol] ?? (hasAll ? symbol : nil) }

    /// - Parameter all: every symbol there is.
    func needed(of all: [String]) -> Set<String> { Set(hasAll ? all : Array(names.keys)) }

    var listed: [String] { (hasAll ? ["*"] : []) + names.values.sorted() }
  }

  private(set) var channels: [AlpacaChannel: Symbols] = [:]

  subscript(_ channel: AlpacaChannel) -> Symbols { channels[channel] ?? Symbols() }

  var hasAll: Bool { channels.values.contains(where: \.hasAll) }

  static let wildcard = "*"

  /// - Parameter names: by our symbol.
  mutating func add(_ names: [String: String], all: Bool, to channel: AlpacaChannel) {
    channels[channel, default: Symbols()].names.merge(names) { $1 }
    if all { channels[channel]?.hasAll = true }
  }

  mutating func remove(_ names: [String: String], all: Bool, from channel: AlpacaChannel) {
    for symbol in names.keys { channels[channel]?.names[symbol] = nil }
    if all { channels[channel]?.hasAll = false }
  }

  /// What has to be followed more in `other` than here; turned around, less.
  func channels(missingFor other: AlpacaSubscription, of all: [String]) -> [ChannelRequest] {
    func missing(_ channels: AlpacaChannel...) -> [String] {
      var needed: Set<String> = []
      for channel in channels { needed.formUnion(other[channel].needed(of: all)) }
      for channel in channels { needed.subtract(self[channel].needed(of: all)) }
      return needed.sorted()
    }
    let (minutes, days) = (missing(.bars, .updatedBars), missing(.dailyBars))
    // The first always: there is an answer to each request.
    var requests = [ChannelRequest(name: "stock-prices", symbols: missing(.quotes))]
    if !minutes.isEmpty {
      requests.append(ChannelRequest(name: "candles", symbols: minutes, intervals: ["1m"]))
    }
    if !days.isEmpty {
      requests.append(ChannelRequest(name: "candles", symbols: days, intervals: ["1d"]))
    }
    return requests
  }
}
