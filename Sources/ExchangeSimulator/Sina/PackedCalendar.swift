import Market

/// The packing of `klc_td_sh.txt`: a sequence of weekdays as runs between closures, in base64
/// digits of six bits, lowest bit first.
///
/// Head: 12 bits format 139, 6 bits version (63: the first), 18 bits first day and 18 bits last day
/// counted from 1990-12-19. Then for each run: one bit whether the width changes, if so by how much
/// in signed unary (sign, ones, a zero), and the number of trading days before the next weekday
/// without trading in 3 × width bits. The algorithm is that of Sina's own page script, as akshare
/// carries it (`hk_js_decode`, format 139).
package struct PackedCalendar {
  private static let format = 139
  private static let version = 63
  /// 1990-12-19, the first trading day of Shanghai.
  package static let epoch = TradingDay(daysSince1970: 7657)

  private var writer = SextetWriter()

  /// - Parameter days: ascending weekdays from 1990-12-19 on, at least one.
  package static func text(_ days: [TradingDay]) -> String {
    precondition(!days.isEmpty && !days.contains(where: \.isWeekend), "the packing has no weekends")
    var packed = PackedCalendar()
    packed.write(days)
    return packed.writer.finished()
  }

  /// The file of the calendar that is known. It lacks 1992-05-04 as the real one does.
  package static func script(later: [TradingDay] = []) -> String {
    let missing = TradingDay(year: 1992, month: 5, day: 4)
    let known = TradingCalendar.shanghai
    let days = (known.firstDay...known.lastDay).filter {
      known.isTradingDay($0) == true && $0 != missing
    }
    return "var datelist=\"\(text(days + later))\";var KLC_TD_SH=datelist;"
  }

  private mutating func write(_ days: [TradingDay]) {
    writer.write(PackedCalendar.format, bits: 12)
    writer.write(PackedCalendar.version, bits: 6)
    writer.write(PackedCalendar.epoch.distance(to: days[0]), bits: 18)
    writer.write(PackedCalendar.epoch.distance(to: days[days.count - 1]), bits: 18)
    var width = 0
    for run in PackedCalendar.runs(days) {
      let needed = (Int.bitWidth - run.leadingZeroBitCount + 2) / 3
      let change = max(needed, 1) - width
      writer.write(change > 0 || change < -1 ? 1 : 0, bits: 1)
      // A width that is one too many costs less than changing it twice.
      if change > 0 || change < -1 {
        writer.write(signedUnary: change)
        width += change
      }
      writer.write(run, bits: 3 * width)
    }
  }

  /// Trading days between one weekday without trading and the next.
  private static func runs(_ days: [TradingDay]) -> [Int] {
    let trading = Set(days)
    var runs: [Int] = []
    var run = 0
    for day in days[0]...days[days.count - 1] where !day.isWeekend {
      if trading.contains(day) {
        run += 1
      } else {
        runs.append(run)
        run = 0
      }
    }
    return runs + [run]
  }
}

/// Bits into base64 digits of six, lowest bit first.
struct SextetWriter {
  private static let digits = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  private var text = ""
  private var sextet = 0
  private var bits = 0

  mutating func write(_ value: Int, bits count: Int) {
    for bit in 0..<count { writeBit(value >> bit & 1) }
  }

  /// A sign bit (1 for more), one bit less than the amount of ones, and a zero.
  mutating func write(signedUnary value: Int) {
    writeBit(value > 0 ? 1 : 0)
    for _ in 1..<max(value.magnitude, 1) { writeBit(1) }
    writeBit(0)
  }

  private mutating func writeBit(_ bit: Int) {
    sextet |= bit << bits
    bits += 1
    if bits == 6 { flush() }
  }

  private mutating func flush() {
    text.append(SextetWriter.digits[sextet])
    (sextet, bits) = (0, 0)
  }

  /// The digits, the last filled up with zeros.
  mutating func finished() -> String {
    if bits > 0 { flush() }
    return text
  }
}
