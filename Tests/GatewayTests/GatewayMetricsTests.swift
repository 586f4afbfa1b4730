import AppStore
import Foundation
import Operations
import Testing

@testable import Gateway

@Suite struct GatewayMetricsTests {
  @Test func `the page of metrics has the generated reference`() throws {
    let page = URL(filePath: #filePath).appending(path: "../../../docs/reference/metrics.md")
    let table = GatewayMetrics.families.reference()
    let text = try String(contentsOf: page.standardized, encoding: .utf8)
    #expect(text.contains("\n## candled-gateway\n\n\(table)\n"), "\(table)")
  }

  /// Of a gateway whose broker leads and that calls webhooks.
  private static var page: String {
    var broker = BrokerFigures()
    broker.term = 1
    return GatewayMetrics.families.exposition(
      of: GatewayReport(
        state: MarketState(), waiting: 0, requests: [:], streams: 0, streamBytes: 0, alerts: 0,
        commands: 0,
        webhooks: Webhooks.Figures(delivered: 0, failed: 0, waitingMicroseconds: 0),
        connections: ConnectionTable.Figures(), broker: broker, behindMicroseconds: 0))
  }

  @Test func `whatever an alert selects is on a page where everything happens`() throws {
    let file = URL(filePath: #filePath).appending(path: "../../../config/alerts.yml")
    let text = try String(contentsOf: file.standardized, encoding: .utf8)
    let (page, selector) = (Self.page, /candled_gateway_\w+(?:\{[^}]*\})?/)
    let selected = text.matches(of: selector).map { String($0.output) }
    #expect(selected.count >= 5)
    for series in selected { #expect(page.contains("\n\(series) "), "\(series)") }
  }
}
