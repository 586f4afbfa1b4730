/// The market overview families, each with its own order of fields (docs/sources/sina.md).
///
/// Only what an overview shows is read: where the index or share stands and how it moved. A handful
/// of these lines come with a sweep, so clarity goes before speed.

import Market

struct SinaOverviewLine {
  let family: SinaFamily
  let fields: [UnsafeRawBufferPointer]

  /// Where a family keeps what.
  private struct Layout {
    let fieldsMin: Int
    let name: Int
    let last: Int
    let change: Int
    let percentChange: Int
  }

  private var layout: Layout {
    switch family {
    case .hongKong: Layout(fieldsMin: 19, name: 1, last: 6, change: 7, percentChange: 8)
    case .unitedStates: Layout(fieldsMin: 28, name: 0, last: 1, change: 4, percentChange: 2)
    case .short: Layout(fieldsMin: 6, name: 0, last: 1, change: 2, percentChange: 3)
    case .international, .bourse, .full, .companion:
      Layout(fieldsMin: 4, name: 0, last: 1, change: 2, percentChange: 3)
    }
  }

  func read(
    _ symbol: Symbol, charset: NameCharset, names: GB18030Decoder
  ) throws(RowFault) -> OverviewQuote {
    let layout = layout
    guard fields.count >= layout.fieldsMin else {
      throw .malformed("\(fields.count) fields, at least \(layout.fieldsMin) expected")
    }
    let at = try stamp()
    let last = try decimal(layout.last, named: "last")
    if last.isNegative {
      throw RowFault(.negative, detail: "last: \(last) is negative")
    }
    return OverviewQuote(
      symbol: symbol,
      name: names.text(of: RawName(bytes: fields[layout.name].trimmed, charset: charset)),
      last: last, change: try decimal(layout.change, named: "change"),
      percentChange: try decimal(layout.percentChange, named: "percent change"), at: at)
  }

  private func decimal(_ index: Int, named field: String) throws(RowFault) -> ExactDecimal {
    do throws(ExactDecimalError) {
      return try ExactDecimal(parsing: fields[index])
    } catch {
      throw .notANumber(field, expected: "a number", found: fields[index])
    }
  }

  private func stamp() throws(RowFault) -> Timestamp? {
    switch family {
    case .hongKong: return try stamp(date: fields[17], time: fields[18], separator: "/")
    case .unitedStates:
      let text = fields[3]
      let date = text.slice(0, to: min(text.count, SinaDateCache.dateBytes))
      return try stamp(date: date, time: text.dropping(date.count + 1), separator: "-")
    case .short, .international, .bourse, .full, .companion: return nil
    }
  }

  /// Beijing and Hong Kong share a clock.
  private func stamp(
    date: UnsafeRawBufferPointer, time: UnsafeRawBufferPointer, separator: Unicode.Scalar
  ) throws(RowFault) -> Timestamp {
    guard let day = TradingDay(ascii: date, separator: UInt8(ascii: separator)),
      let second = SinaClock.secondOfDay(time)
    else {
      throw .malformed(
        "date and time expected, found `\(RowFault.excerpt(date))`, "
          + "`\(RowFault.excerpt(time))`")
    }
    return Timestamp(day: day, secondOfDay: Int(second))
  }
}
