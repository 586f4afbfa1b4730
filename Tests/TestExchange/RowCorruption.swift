import ExchangeSimulator
import Market

/// Where a quote line has what a fault may change: `…sh600519="…";\n`. Fields count from 0, the
/// first behind the quote.
struct LineLayout: Sendable {
  let separator: UInt8
  let name: Int
  let last: Int
  let high: Int
  let low: Int
  let volume: Int
  let stamp: Int
  /// Two numbers that stand behind each other.
  let neighbours: ClosedRange<Int>
  /// What the volume counts, in shares.
  let volumeUnit: @Sendable (Traits) -> Int64
  /// A stamp of the day.
  let stampText: @Sendable (Int, TradingDay) -> String

  static let of: [UpstreamName: LineLayout] = [
    .sinaQuotes: LineLayout(
      separator: UInt8(ascii: ","), name: 0, last: 3, high: 4, low: 5, volume: 8, stamp: 31,
      neighbours: 1...2, volumeUnit: { _ in 1 }, stampText: { second, _ in clockText(second) }),
    .tencentQuotes: LineLayout(
      separator: TencentLineWriter.separator, name: 1, last: 3, high: 33, low: 34, volume: 6,
      stamp: 30, neighbours: 4...5, volumeUnit: { RefreshedLines.lot($0) },
      stampText: { second, day in
        day.compact + clockText(second).split(separator: ":").joined()
      }),
  ]
}

/// What a fault does to one quote line.
///
/// Only rows on which a fault really shows are touched: a volume of zero times a thousand is still
/// a right volume, and calling that row invalid would make the ledger wrong.
struct RowCorruption {
  enum Outcome {
    case untouched
    /// Changed, and what counts is still right.
    case valid
    /// Changed: whoever believes this row is wrong.
    case invalid
  }

  private(set) var bytes: [UInt8]
  private let layout: LineLayout

  init(_ line: [UInt8], _ layout: LineLayout) {
    bytes = line
    self.layout = layout
  }

  private static let hour: Int32 = 3600
  private static let backwardStamp: Int32 = 9 * 3600 + 3

  mutating func apply(
    _ fault: ActiveFault, state: InstrumentState, traits: Traits, now: Timestamp,
    servedStamp: Int32
  ) -> Outcome {
    let day = now.shanghaiDay
    switch fault.kind {
    case .emptyLine:
      guard let quote = bytes.firstIndex(of: UInt8(ascii: "\"")) else { return .untouched }
      bytes.replaceSubrange(quote..., with: "\"\";\n".utf8)
    case .missingRow:
      bytes = []
    case .cutLine:
      // Behind the totals, before the stamp.
      guard let field = range(ofField: layout.stamp - 1) else { return .untouched }
      bytes.replaceSubrange(field.lowerBound..., with: "\n".utf8)
    case .garbageRow:
      garble(fault)
    case .notANumber:
      setField(layout.last, to: "NaN")
    case .negative:
      setField(layout.last, to: "-1.000")
    case .highBelowLow:
      setField(layout.high, to: "1.000")
      setField(layout.low, to: "2.000")
    case .priceTimesThousand where state.last > 0:
      setField(layout.last, to: scaled(state.last, scale: traits.scale))
      setField(layout.high, to: scaled(state.high, scale: traits.scale))
    case .volumeTimesThousand where state.volume > 0 && !traits.isIndex:
      setField(layout.volume, to: String(state.volume * 1000 / layout.volumeUnit(traits)))
    case .futureStamp:
      // An hour after now, not after its own stamp: a quiet line's last change may be long ago.
      let later = now.shanghaiSecondOfDay + Int(RowCorruption.hour)
      setField(layout.stamp, to: layout.stampText(later, day))
    case .backwardStamp where servedStamp > RowCorruption.backwardStamp && servedStamp < Int32.max:
      setField(layout.stamp, to: layout.stampText(Int(RowCorruption.backwardStamp), day))
    case .brokenName:
      return breakName()
    case .duplicateRow:
      bytes += bytes
      return .valid
    default:
      return .untouched
    }
    return .invalid
  }

  private func scaled(_ units: Int64, scale: UInt8) -> String {
    ExactDecimal(units: units * 1000, scale: scale).description
  }

  /// Where field `number` stands.
  private func range(ofField number: Int) -> Range<Int>? {
    guard let quote = bytes.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
    var start = quote + 1
    var place = start
    var left = number
    while place < bytes.count {
      if bytes[place] == layout.separator || bytes[place] == UInt8(ascii: "\"") {
        if left == 0 { return start..<place }
        left -= 1
        start = place + 1
      }
      // The second byte of a character may look like a separator.
      place += bytes[place] > 0x80 ? 2 : 1
    }
    return nil
  }

  private mutating func setField(_ number: Int, to text: String) {
    if let range = range(ofField: number) { bytes.replaceSubrange(range, with: text.utf8) }
  }

  /// Bytes that are no digits, over two numbers.
  private mutating func garble(_ fault: ActiveFault) {
    guard let first = range(ofField: layout.neighbours.lowerBound),
      let second = range(ofField: layout.neighbours.upperBound)
    else { return }
    let noise = fault.noise(bytes: second.upperBound - first.lowerBound)
    for (place, byte) in zip(first.lowerBound..<second.upperBound, noise) {
      bytes[place] = byte | 0x80
    }
  }

  /// 0xFF begins no character of GB18030, and none of UTF-8.
  private mutating func breakName() -> Outcome {
    guard let name = range(ofField: layout.name), !name.isEmpty else { return .untouched }
    bytes[name.lowerBound] = 0xFF
    return .valid
  }
}
