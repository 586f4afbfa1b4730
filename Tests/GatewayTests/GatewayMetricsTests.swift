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
}
