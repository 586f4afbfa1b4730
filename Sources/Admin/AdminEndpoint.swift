import HTTPServing
import Ingest
import Operations

/// What is served where. Everything but `/livez` is a pure function of one `DaemonReport`, and
/// everything is masked on its way out.
package struct AdminEndpoint: Sendable {
  private let state: DaemonState
  private let mask: SecretMask

  package static let paths = ["/livez", "/readyz", "/metrics", "/status", "/status.txt"]

  package init(state: DaemonState, mask: SecretMask) {
    self.state = state
    self.mask = mask
  }

  /// What needs nobody's help: whether the daemon's own loops turn, and what is asked wrongly.
  func immediateResponse(_ request: ServerRequest) -> ServerResponse? {
    if request.method != "GET", request.method != "HEAD" {
      return .text("GET and HEAD only", status: 405)
    }
    if !AdminEndpoint.paths.contains(request.path) {
      return .text(AdminEndpoint.paths.joined(separator: "\n"), status: 404)
    }
    return request.path == "/livez" ? livez : nil
  }

  package func response(to request: ServerRequest) async -> ServerResponse {
    if let response = immediateResponse(request) { return response }
    let report = await state.report()
    var response =
      switch request.path {
      case "/readyz": readyz(report)
      case "/metrics": metrics(report)
      case "/status.txt":
        ServerResponse.text(StatusDocument(report).text, status: 200)
      default: status(report)
      }
    response.body = mask.masked(response.body)
    return response
  }

  /// Exactly what the watchdog goes by: never the database.
  private var livez: ServerResponse {
    let stale = state.heartbeats.stale()
    return stale.isEmpty
      ? .text("ok", status: 200)
      : .text("no progress: " + stale.joined(separator: ", "), status: 503)
  }

  private func readyz(_ report: DaemonReport) -> ServerResponse {
    let readiness = Readiness(report)
    return .text(
      ([readiness.headline] + readiness.lines).joined(separator: "\n"),
      status: readiness.isReady ? 200 : 503)
  }

  private func metrics(_ report: DaemonReport) -> ServerResponse {
    ServerResponse(
      status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8",
      body: MetricTable.families.exposition(of: report))
  }

  private func status(_ report: DaemonReport) -> ServerResponse {
    ServerResponse(
      status: 200, contentType: "application/json",
      body: StatusDocument(report).json + "\n")
  }
}
