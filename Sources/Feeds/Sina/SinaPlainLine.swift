/// The quick way through a full line: one pass, no allocation, no explanation.
///
/// It takes lines that look as nearly all do and leaves everything else (unusual or damaged alike)
/// to `SinaCarefulLine`, which decides. It must never deliver a line the careful way would refuse,
/// or other values than it: a property test holds the two together.

import Glibc
import Market

struct SinaPlainLine {
  /// The first byte of the next line.
  let next: UnsafeRawPointer
  let name: UnsafeRawBufferPointer
  /// The line without its line end.
  let line: UnsafeRawBufferPointer

  /// How much memory must follow the start of a line for the quick way: no read goes further.
  /// 21 to the name, 48 of name, 31 numbers (trailer included), date, time, status and the word
  /// beyond.
  static let windowBytesMin = 21 + nameBytesMax + 31 * FieldScanner.advanceBytesMax + 64
  static let nameBytesMax = 48

  /// Reads the line at `start` into `quote`; nil if it is not plain, `quote` then holds rubbish.
  /// - Precondition: `windowBytesMin` bytes lie between `start` and `end`.
  @inline(__always)
  init?(
    at start: UnsafeRawPointer, end: UnsafeRawPointer, securities: QuotedSecurityTable,
    dates: inout SinaDateCache, into quote: inout Quote
  ) {
    guard Swar.load(start) == SinaPlainLine.lineStart,
      Swar.load(start + 3) == SinaPlainLine.lineStartFromFourth
    else { return nil }
    let key = Swar.load(start + 11)
    guard QuotedSecurityTable.isFullSymbol(key),
      SinaPlainLine.pair(start + 19) == 0x223D  // ="
    else {
      return nil
    }
    let nameStart = start + 21
    guard let nameEnd = SinaPlainLine.endOfName(nameStart) else { return nil }

    let security = securities[key]
    quote.symbol = Symbol(low: key, high: 0)
    var fields = SinaPlainLine.readNumbers(FieldScanner(position: nameEnd + 1), into: &quote)
    guard fields.isPlain, SinaPlainLine.readStamp(&fields, dates: &dates, into: &quote),
      let tail = SinaPlainLine.readStatus(&fields, into: &quote), fields.isPlain,
      let lineEnd = SinaPlainLine.endOfLine(from: tail, end: end)
    else { return nil }
    if security.contains(.countsLots) {
      // A plain volume has at most 16 digits: two more still fit.
      quote.volume = ExactDecimal(
        units: quote.volume.units &* QuotedSecurity.lot, scale: quote.volume.scale)
    }
    guard QuoteInconsistency.first(in: &quote, of: security) == nil else { return nil }
    next = lineEnd + 1
    name = UnsafeRawBufferPointer(start: nameStart, count: nameEnd - nameStart)
    line = UnsafeRawBufferPointer(start: start, count: lineEnd - start)
  }

  private static let lineStart: UInt64 = 0x735F_7168_2072_6176  // "var hq_s"
  private static let lineStartFromFourth: UInt64 = 0x5F72_7473_5F71_6820  // " hq_str_"
  private static let lineFeed = Swar.repeated(UInt8(ascii: "\n"))

  @inline(__always)
  private static func pair(_ pointer: UnsafeRawPointer) -> UInt16 {
    UInt16(littleEndian: pointer.loadUnaligned(as: UInt16.self))
  }

  /// The comma behind the name; nil if a line end comes first or it is too far.
  @inline(__always)
  private static func endOfName(_ start: UnsafeRawPointer) -> UnsafeRawPointer? {
    var offset = 0
    while offset < nameBytesMax {
      let word = Swar.load(start + offset)
      let commas = Swar.marks(of: FieldScanner.comma, in: word)
      let lineEnds = Swar.marks(of: lineFeed, in: word)
      if commas | lineEnds != 0 {
        let before = commas.trailingZeroBitCount
        return before < lineEnds.trailingZeroBitCount ? start + (offset + before >> 3) : nil
      }
      offset += 8
    }
    return nil
  }

  /// Fields 1…29. The scanner goes in and out by value so that it stays in registers.
  @inline(__always)
  private static func readNumbers(
    _ scanner: FieldScanner, into quote: inout Quote
  ) -> FieldScanner {
    var fields = scanner
    quote.open = fields.unlikePrice()
    quote.previousClose = fields.price()
    quote.last = fields.price()
    quote.high = fields.price()
    quote.low = fields.price()
    quote.bid = fields.price()
    quote.ask = fields.price()
    quote.volume = fields.count()
    quote.turnover = fields.decimal()
    for level in 0..<5 {
      let volume = fields.count()
      quote.bids[level] = BookLevel(price: fields.price(), volume: volume)
    }
    for level in 0..<5 {
      let volume = fields.count()
      quote.asks[level] = BookLevel(price: fields.price(), volume: volume)
    }
    return fields
  }

  /// Fields 30 and 31, each with the comma behind it.
  @inline(__always)
  private static func readStamp(
    _ fields: inout FieldScanner, dates: inout SinaDateCache, into quote: inout Quote
  ) -> Bool {
    let date = fields.position
    let comma = UInt8(ascii: ",")
    guard (date + 10).load(as: UInt8.self) == comma, (date + 19).load(as: UInt8.self) == comma,
      let day = dates.day(at: date), let second = SinaClock.secondOfDay(Swar.load(date + 11))
    else { return false }
    quote.tradingDay = day
    quote.secondOfDay = second
    fields.position = date + 20
    return true
  }

  /// Field 32 and the after-hours trailer `D|shares|money`. Returns where the rest of the line
  /// begins; nil unless the status is a known one.
  @inline(__always)
  private static func readStatus(
    _ fields: inout FieldScanner, into quote: inout Quote
  ) -> UnsafeRawPointer? {
    quote.status = QuoteStatus(sinaCode: pair(fields.position))
    if quote.status == .unknown { return nil }  // it may be shorter, and its comma among the two
    quote.afterHours = nil
    let behind = fields.position + 2
    let separator = behind.load(as: UInt8.self)
    if separator == UInt8(ascii: "\"") { return behind }
    guard separator == UInt8(ascii: ",") else { return nil }
    guard pair(behind + 1) == 0x7C44 else { return behind }  // D|
    fields.position = behind + 3
    let volume = fields.count(until: FieldScanner.bar)
    let turnover = fields.decimal(until: FieldScanner.quote)
    quote.afterHours = AfterHours(volume: volume, turnover: turnover)
    return fields.position - 1
  }

  /// The line feed of a line that ends properly, with `";` before it.
  @inline(__always)
  private static func endOfLine(
    from tail: UnsafeRawPointer, end: UnsafeRawPointer
  ) -> UnsafeRawPointer? {
    let word = Swar.load(tail)
    if word & 0xFF_FFFF == 0x0A3B22 { return tail + 2 }  // ";⏎
    if word & 0xFFFF_FFFF == 0x0A3B_222C { return tail + 3 }  // ,";⏎
    guard let found = memchr(tail, 0x0A, end - tail) else { return nil }
    let lineEnd = UnsafeRawPointer(found)
    // The first quotation mark must be the closing one, or two lines have run together.
    guard let mark = memchr(tail, 0x22, lineEnd - tail), lineEnd - UnsafeRawPointer(mark) == 2,
      pair(UnsafeRawPointer(mark)) == 0x3B22
    else { return nil }
    return lineEnd
  }
}
