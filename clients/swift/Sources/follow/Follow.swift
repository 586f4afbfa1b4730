import Foundation

/// `CANDLED_TOKEN=cndl_… swift run follow http://127.0.0.1:8466 sh600000 sh600036`
@main struct Follow {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let text = arguments.first, let gateway = URL(string: text), arguments.count > 1 else {
      show("usage: follow http://127.0.0.1:8466 SYMBOL…")
      exit(64)
    }
    let token = ProcessInfo.processInfo.environment["CANDLED_TOKEN"]
    let prices = Prices(gateway: gateway, token: token, symbols: Array(arguments.dropFirst()))
    do {
      for try await update in prices.updates() { show(update) }
    } catch let error as Refused {
      show("refused: HTTP \(error.status)")
      exit(77)
    }
  }

  private static func show(_ update: Update) {
    switch update {
    case .stocks(let stocks):
      for stock in stocks {
        let price = stock.currentPrice ?? "–"
        show("\(stock.symbol) \(price) \(stock.change ?? "–") \(stock.quotedAt)")
      }
    case .stale(true, let reason): show("stale: \(reason)")
    case .stale(false, _): show("live")
    }
  }

  /// At once, unlike `print`, also where standard output is a pipe.
  private static func show(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
