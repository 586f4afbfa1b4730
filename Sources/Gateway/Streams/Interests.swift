/// Which series a follower wants of which channel: sorted arrays, which cost a follower of twenty
/// series little more than their numbers.

import Market

/// A set of series in ascending order.
struct PlaceSet: Equatable, Sendable {
  private(set) var places: [SeriesPlace] = []

  init(_ places: [SeriesPlace] = []) {
    var last: SeriesPlace?
    for place in places.sorted() where place != last {
      self.places.append(place)
      last = place
    }
  }

  var count: Int { places.count }
  var isEmpty: Bool { places.isEmpty }

  func contains(_ place: SeriesPlace) -> Bool {
    let index = places.partitioningIndex { $0 >= place }
    return index < places.count && places[index] == place
  }

  mutating func formUnion(_ other: PlaceSet) {
    self = isEmpty ? other : PlaceSet(places + other.places)
  }

  mutating func subtract(_ other: PlaceSet) { places.removeAll { other.contains($0) } }
}

/// A channel whose messages are a log.
enum LogChannel: Hashable, Sendable {
  case candles(Timeframe)
  case gaps
  case minuteComplete
  case market

  init(_ kind: FeedMessage.Kind) {
    switch kind {
    case .candle(let timeframe): self = .candles(timeframe)
    case .gap, .closedGap: self = .gaps
    case .minuteComplete: self = .minuteComplete
    case .certificate, .event: self = .market
    }
  }
}

struct LogInterests: Equatable, Sendable {
  enum Series: Equatable, Sendable {
    case all
    case named(PlaceSet)
  }

  private(set) var channels: [LogChannel: Series] = [:]

  var isEmpty: Bool { channels.isEmpty }

  /// Whether one of the channels is wanted for all series.
  var wantsEverySeries: Bool { channels.values.contains(.all) }

  /// The series that are named, each once.
  var places: [SeriesPlace] {
    let sets = namedSets
    return sets.count == 1 ? sets[0].places : PlaceSet(sets.flatMap(\.places)).places
  }

  private var namedSets: [PlaceSet] {
    channels.values.compactMap { if case .named(let set) = $0 { set } else { nil } }
  }

  func wants(_ message: FeedMessage) -> Bool {
    switch channels[LogChannel(message.kind)] {
    case nil: false
    case .all: true
    case .named(let set): message.place.map(set.contains) ?? true
    }
  }

  func count(of channel: LogChannel) -> Int {
    if case .named(let set) = channels[channel] { set.count } else { 0 }
  }

  mutating func add(_ series: Series, to channel: LogChannel) {
    guard series != .named(PlaceSet()) else { return }
    if case .named(var set) = channels[channel], case .named(let more) = series {
      set.formUnion(more)
      channels[channel] = .named(set)
    } else if channels[channel] != .all {
      channels[channel] = series
    }
  }

  mutating func remove(_ series: Series, from channel: LogChannel) {
    if case .named(var set) = channels[channel], case .named(let less) = series {
      set.subtract(less)
      channels[channel] = set.isEmpty ? nil : .named(set)
    } else if series == .all {
      channels[channel] = nil
    }
  }
}
