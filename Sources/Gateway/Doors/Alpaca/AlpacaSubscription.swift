/// What a client of Alpaca's stream follows, under the names that it uses, and what of the
/// gateway's own channels that needs.

/// A symbol as a client spells it.
struct AlpacaName: Sendable {
  let spelling: String
  let place: SeriesPlace
}

struct AlpacaSubscription: Sendable {
  struct Symbols: Sendable {
    /// What the client named, by our symbol.
    var names: [String: AlpacaName] = [:]
    /// `*`
    var hasAll = false

    /// As the client calls a symbol; nil if it does not follow it.
    func name(of symbol: String) -> String? { names[symbol]?.spelling ?? (hasAll ? symbol : nil) }

    /// - Parameter all: every series there is.
    func needed(of all: PlaceSet) -> PlaceSet {
      hasAll ? all : PlaceSet(names.values.map(\.place))
    }

    var listed: [String] { (hasAll ? ["*"] : []) + names.values.map(\.spelling).sorted() }
  }

  private(set) var channels: [AlpacaChannel: Symbols] = [:]

  subscript(_ channel: AlpacaChannel) -> Symbols { channels[channel] ?? Symbols() }

  var hasAll: Bool { channels.values.contains(where: \.hasAll) }

  static let wildcard = "*"

  /// - Parameter names: by our symbol.
  mutating func add(_ names: [String: AlpacaName], all: Bool, to channel: AlpacaChannel) {
    channels[channel, default: Symbols()].names.merge(names) { $1 }
    if all { channels[channel]?.hasAll = true }
  }

  mutating func remove(_ names: [String: AlpacaName], all: Bool, from channel: AlpacaChannel) {
    for symbol in names.keys { channels[channel]?.names[symbol] = nil }
    if all { channels[channel]?.hasAll = false }
  }

  /// What has to be followed more in `other` than here; turned around, less.
  /// In places: the names of a whole market would keep an event loop busy.
  func channels(missingFor other: AlpacaSubscription, of all: PlaceSet) -> [ChannelRequest] {
    func missing(_ channels: AlpacaChannel...) -> PlaceSet {
      var needed = PlaceSet()
      for channel in channels { needed.formUnion(other[channel].needed(of: all)) }
      for channel in channels { needed.subtract(self[channel].needed(of: all)) }
      return needed
    }
    let (minutes, days) = (missing(.bars, .updatedBars), missing(.dailyBars))
    // The first always: there is an answer to each request.
    var requests = [ChannelRequest(name: "stock-prices", places: missing(.quotes))]
    if !minutes.isEmpty {
      requests.append(ChannelRequest(name: "candles", intervals: ["1m"], places: minutes))
    }
    if !days.isEmpty {
      requests.append(ChannelRequest(name: "candles", intervals: ["1d"], places: days))
    }
    return requests
  }
}
