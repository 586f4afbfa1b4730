import Market

/// Packs trading days the way Sina does; the other half of `SinaCalendar`, so that the files the
/// tests read are their own.
struct SinaCalendarPacker {
  private var sextets: [UInt8] = []
  private var bitCount = 0

  static let epoch = TradingDay(daysSince1970: 7657)

  /// The body of a file that names `days`, which are ascending weekdays.
  /// - Parameter padding: the bits behind the last day up to a whole character.
  static func file(
    of days: [TradingDay], form: Int = 139, version: Int = 0, padding: Bool = true
  ) -> [UInt8] {
    var packer = SinaCalendarPacker()
    packer.pack(days, form: form, version: version)
    while packer.bitCount % 6 != 0 { packer.add(bit: padding) }
    return script(around: packer.characters)
  }

  static func script(around packed: [UInt8]) -> [UInt8] {
    Array(#"var datelist=""#.utf8) + packed + Array(#"";var KLC_TD_SH=datelist;"#.utf8)
  }

  private mutating func pack(_ days: [TradingDay], form: Int, version: Int) {
    guard let first = days.first, let last = days.last else { return }
    add(form, bits: 12)
    add(63 ^ version, bits: 6)
    add(SinaCalendarPacker.epoch.distance(to: first), bits: 18)
    add(SinaCalendarPacker.epoch.distance(to: last), bits: 18)
    var width = 0
    for length in SinaCalendarPacker.runs(of: days, from: first, through: last) {
      let needed = (length.bitWidth - length.leadingZeroBitCount + 2) / 3
      add(bit: needed != width)
      if needed != width { add(change: needed - width) }
      width = needed
      add(length, bits: 3 * width)
    }
  }

  /// Lengths of the runs of trading weekdays, one weekday without trading between each two.
  private static func runs(
    of days: [TradingDay], from first: TradingDay, through last: TradingDay
  ) -> [Int] {
    let trading = Set(days)
    var runs = [0]
    for day in first...last where !day.isWeekend {
      if trading.contains(day) { runs[runs.count - 1] += 1 } else { runs.append(0) }
    }
    return runs
  }

  private mutating func add(change: Int) {
    add(bit: change > 0)
    for _ in 1..<abs(change) { add(bit: true) }
    add(bit: false)
  }

  private mutating func add(_ number: Int, bits: Int) {
    for place in 0..<bits { add(bit: number >> place & 1 == 1) }
  }

  private mutating func add(bit: Bool) {
    if bitCount % 6 == 0 { sextets.append(0) }
    if bit { sextets[bitCount / 6] |= 1 << (bitCount % 6) }
    bitCount += 1
  }

  private var characters: [UInt8] {
    let alphabet = Array(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    return sextets.map { alphabet[Int($0)] }
  }
}
