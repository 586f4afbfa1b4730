/// A request's channels, with symbols resolved.

import Market

struct Wanted: Equatable, Sendable {
  private(set) var prices = PlaceSet()
  private(set) var logs = LogInterests()
  private(set) var everyMilliseconds: Int64?
  private(set) var channels: [SubscribedChannel] = []
  private(set) var unknown: [String] = []
  private var isUnknown: Set<String> = []
  private(set) var errors: [StreamError] = []
  /// `stock-prices` without symbols: all that are followed, when they are to be no longer.
  private(set) var namesAllPrices = false
  private(set) var ofUser: Set<UserChannel> = []

  /// Whether there is something to do.
  var isUsable: Bool { !channels.isEmpty }

  var needsMarket: Bool { channels.contains { UserChannel(rawValue: $0.name) == nil } }

  init(_ request: ChannelsRequest, resolve: Follower.Resolver) {
    let symbols = request.channels.lazy.flatMap { $0.symbols ?? [] }
    if request.channels.count > StreamLimits.channelsMax {
      errors = [.tooManyChannels]
    } else if request.channels.contains(where: \.hasTooManySymbols) {
      errors = [.tooManySymbols]
    } else if !symbols.allSatisfy(Self.isPlausible) {
      errors = [.invalidSymbol]
    } else {
      for channel in request.channels { add(channel, resolve: resolve) }
    }
  }

  /// Short, and without control characters, since it is repeated in answers.
  private static func isPlausible(_ symbol: String) -> Bool {
    symbol.utf8.count <= StreamLimits.symbolBytesMax && symbol.utf8.allSatisfy { $0 >= 0x20 }
  }

  private mutating func add(_ channel: ChannelRequest, resolve: Follower.Resolver) {
    switch channel.name {
    case "stock-prices": addPrices(channel, resolve: resolve)
    case "candles": addCandles(channel, resolve: resolve)
    case "gaps" where channel.symbols != nil:
      let places = resolved(channel, resolve: resolve)
      add(.named(places), to: .gaps, named: channel.name)
    case "gaps": add(.all, to: .gaps, named: channel.name)
    case "minute-complete": add(.all, to: .minuteComplete, named: channel.name)
    case "market": add(.all, to: .market, named: channel.name)
    default:
      if let own = UserChannel(rawValue: channel.name) {
        ofUser.insert(own)
        channels.append(SubscribedChannel(name: channel.name, count: nil))
      } else {
        errors.append(.unknownChannel(String(channel.name.prefix(32))))
      }
    }
  }

  private mutating func addPrices(_ channel: ChannelRequest, resolve: Follower.Resolver) {
    if let every = channel.every {
      guard let seconds = Self.seconds(every) else {
        errors.append(.invalidEvery(String(every.prefix(32))))
        return
      }
      everyMilliseconds = seconds * 1_000
    }
    let places = resolved(channel, resolve: resolve)
    namesAllPrices = namesAllPrices || (channel.symbols == nil && channel.places == nil)
    prices.formUnion(places)
    channels.append(SubscribedChannel(name: channel.name, count: places.count))
  }

  private mutating func addCandles(_ channel: ChannelRequest, resolve: Follower.Resolver) {
    var timeframes: [Timeframe] = []
    for name in channel.intervals ?? [Timeframe.minute1.name] {
      guard let timeframe = Timeframe(name: name == "1wk" ? "1w" : name) else {
        errors.append(.invalidInterval(String(name.prefix(32))))
        return
      }
      if !timeframes.contains(timeframe) { timeframes.append(timeframe) }
    }
    let places = resolved(channel, resolve: resolve)
    for timeframe in timeframes { logs.add(.named(places), to: .candles(timeframe)) }
    channels.append(SubscribedChannel(name: channel.name, count: places.count))
  }

  private mutating func add(
    _ series: LogInterests.Series, to channel: LogChannel, named name: String
  ) {
    logs.add(series, to: channel)
    var count: Int?
    if case .named(let places) = series { count = places.count }
    channels.append(SubscribedChannel(name: name, count: count))
  }

  private mutating func resolved(
    _ channel: ChannelRequest, resolve: Follower.Resolver
  ) -> PlaceSet {
    if let places = channel.places { return places }
    var places: [SeriesPlace] = []
    for symbol in channel.symbols ?? [] {
      if let place = resolve(symbol) {
        places.append(place)
      } else if isUnknown.insert(symbol).inserted {
        unknown.append(symbol)
      }
    }
    return PlaceSet(places)
  }

  /// "2s" is 2.
  private static func seconds(_ text: String) -> Int64? {
    guard text.hasSuffix("s"), let seconds = Int64(text.dropLast()),
      (1...StreamLimits.everySecondsMax).contains(seconds)
    else { return nil }
    return seconds
  }
}

extension ChannelRequest {
  fileprivate var hasTooManySymbols: Bool {
    (symbols?.count ?? 0) > StreamLimits.symbolsMax
  }
}
