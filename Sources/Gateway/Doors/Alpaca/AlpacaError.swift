/// Errors of Alpaca's stream: its codes, and a sentence.

struct AlpacaError: Error, Hashable, Sendable {
  let code: Int64
  let text: String

  static let slow = AlpacaError(code: 407, text: "slow client: only the newest quotes are sent")
  static let missed = AlpacaError(
    code: 500, text: "everything was read again: bars may be missing, read them over REST")

  private static let namesMax = 20
  private static let nameCharactersMax = 32

  static func unknownSymbols(_ names: [String]) -> AlpacaError {
    AlpacaError(code: 400, text: "no instrument has these symbols: \(shown(names))")
  }

  static func noData(of channels: [String]) -> AlpacaError {
    AlpacaError(code: 409, text: "insufficient subscription: there are no \(shown(channels))")
  }

  private static func shown(_ names: [String]) -> String {
    let shown = names.prefix(namesMax).map { $0.prefix(nameCharactersMax) }.joined(separator: ", ")
    return shown + (names.count > namesMax ? " and \(names.count - namesMax) more" : "")
  }

  private init(code: Int64, text: String) {
    self.code = code
    self.text = text
  }

  init(_ error: StreamError) {
    switch error {
    case .tooManySymbols, .tooManyChannels: self.init(code: 405, text: "symbol limit exceeded")
    case .authenticationRequired, .accountRequired, .marketRequired:
      self.init(code: 401, text: "not authenticated")
    case .malformed, .unknownAction, .unknownField, .unknownChannel, .invalidEvery,
      .invalidInterval, .invalidSymbol, .storeAway, .unknownNumber:
      self.init(code: 400, text: "invalid syntax")
    }
  }

  /// nil where the close frame alone says why.
  init?(_ close: StreamClose) {
    switch close {
    case .authenticationTimeout: self.init(code: 404, text: "auth timeout")
    case .forbidden: self.init(code: 402, text: "auth failed")
    case .tooManyConnections: self.init(code: 406, text: "connection limit exceeded")
    case .tooSlow: self.init(code: 407, text: "slow client")
    case .tooManyMessages: self.init(code: 400, text: "more than 10 messages a second")
    case .goingAway, .protocolError, .unsupportedData, .invalidText, .messageTooLarge,
      .tryAgainLater:
      return nil
    }
  }

  var message: AlpacaMessage {
    AlpacaMessage([
      .init("T", .text("error")), .init("code", .integer(code)), .init("msg", .text(text)),
    ])
  }
}
