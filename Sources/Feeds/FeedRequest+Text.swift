/// A request as the line the journal keeps: printable ASCII, words between single spaces.
///
///     list hslt
///     bars iex 1m 2026-09-03T13:30:00Z 2026-09-03T20:00:00Z AAPL,MSFT QUFQTHxNfDE%3D
///     calendar us 2026-01-01 2026-12-31
///     assets us
///
/// The spelling is on disk: a word may be added, none may change its meaning.

import Market

extension FeedRequest {
  public var text: String {
    switch self {
    case .mairuiList(let board): "list \(board.rawValue)"
    case .alpacaBars(let query): "bars \(query.text)"
    case .alpacaCalendar(let from, let to): "calendar us \(from) \(to)"
    case .alpacaAssets: "assets us"
    }
  }

  /// Reads what `text` writes; nil for anything else, other spellings of a request included.
  public init?(text: String) {
    guard let request = FeedRequest.reading(text.split(separator: " ")), request.text == text
    else { return nil }
    self = request
  }

  private static func reading(_ words: [Substring]) -> FeedRequest? {
    switch (words.first, words.count) {
    case ("list", 2): MairuiBoard(rawValue: String(words[1])).map(FeedRequest.mairuiList)
    case ("bars", 6...7): AlpacaBarsQuery(words: words.dropFirst()).map(FeedRequest.alpacaBars)
    case ("calendar", 4):
      TradingDay(words[2]).flatMap { from in
        TradingDay(words[3]).map { .alpacaCalendar(from: from, to: $0) }
      }
    case ("assets", 2): .alpacaAssets
    default: nil
    }
  }
}
