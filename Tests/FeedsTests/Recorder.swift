import Feeds
import Market

/// What a decoder said of one line, kept in a form that can be compared.
enum Record: Equatable {
  /// Every field as text, the name decoded, and the raw line.
  case quote(symbol: String, fields: [String], name: String, line: [UInt8])
  case overview(OverviewQuote)
  case unknown(String)
  case rejected(symbol: String?, RejectionReason, detail: String, line: [UInt8])

  var isQuote: Bool {
    if case .quote = self { true } else { false }
  }
}

/// A visitor that keeps everything.
struct Recorder: QuoteVisitor {
  private(set) var records: [Record] = []
  private(set) var quotes: [Quote] = []
  private(set) var rawNames: [[UInt8]] = []
  private(set) var dropped: [DroppedMember] = []
  private let names = GB18030Decoder()

  mutating func quote(_ quote: Quote, name: RawName, line: UnsafeRawBufferPointer) {
    quotes.append(quote)
    rawNames.append(Array(name.bytes))
    records.append(
      .quote(
        symbol: quote.symbol.description, fields: Recorder.fields(of: quote),
        name: names.text(of: name), line: Array(line)))
  }

  mutating func overview(_ quote: OverviewQuote) { records.append(.overview(quote)) }

  mutating func unknown(_ symbol: Symbol) { records.append(.unknown(symbol.description)) }

  mutating func dropped(_ member: DroppedMember) { dropped.append(member) }

  mutating func rejected(_ row: RejectedRow) {
    records.append(
      .rejected(
        symbol: row.symbol?.description, row.reason, detail: row.detail, line: Array(row.line)))
  }

  /// All that a quote holds, in Sina's order of fields.
  static func fields(of quote: Quote) -> [String] {
    let prices = [
      quote.open, quote.previousClose, quote.last, quote.high, quote.low, quote.bid, quote.ask,
      quote.volume, quote.turnover,
    ]
    let levels = [quote.bids, quote.asks].flatMap { book in
      book.indices.flatMap { [book[$0].volume, book[$0].price] }
    }
    let trailer = quote.afterHours.map { [$0.volume, $0.turnover] } ?? []
    return (prices + levels).map(\.description)
      + ["\(quote.at)", "\(quote.status)"] + trailer.map(\.description)
  }
}

/// Decodes `body` with a new decoder.
func decode(_ body: [UInt8], status: Int = 200) -> (outcome: QuoteOutcome, recorder: Recorder) {
  var decoder = SinaQuoteDecoder()
  var recorder = Recorder()
  let outcome = body.withUnsafeBytes { decoder.decode($0, status: status, into: &recorder) }
  return (outcome, recorder)
}

/// Decodes `body` as Tencent's.
func decodeTencent(
  _ body: [UInt8], status: Int = 200
) -> (outcome: QuoteOutcome, recorder: Recorder) {
  var decoder = TencentQuoteDecoder()
  var recorder = Recorder()
  let outcome = body.withUnsafeBytes { decoder.decode($0, status: status, into: &recorder) }
  return (outcome, recorder)
}

func decode(_ text: String, status: Int = 200) -> (outcome: QuoteOutcome, recorder: Recorder) {
  decode(Array(text.utf8), status: status)
}
