/// The server of the admin endpoint. Whether the daemon lives is answered on the server's thread
/// itself, when nothing else makes progress; everything else is made by a task.

import HTTPServing
import Logging
import Operations

package struct AdminServer: Sendable {
  private let server: HTTPServer

  static let unavailable = ServerResponse.text("the daemon does not respond", status: 503)

  /// Begins to listen, at once or, while the address is taken, as soon as it is free.
  package init(at address: ListenAddress, answering endpoint: AdminEndpoint, log: Logger) {
    server = HTTPServer(at: address) { event in
      AdminServer.report(event, of: address, to: log)
    } handler: { request in
      guard address.isMeant(by: request) else { return .now(ListenAddress.hostRefusal) }
      if let response = endpoint.immediateResponse(request) { return .now(response) }
      return .later(unavailable: Self.unavailable) { await endpoint.response(to: request) }
    }
  }

  /// Stops listening and ends every connection. Returns when that is done.
  package func stop() { server.stop() }

  private static func report(
    _ event: HTTPServer.Event, of address: ListenAddress, to log: Logger
  ) {
    switch event {
    case .listening(let bound):
      log.info("admin endpoint listening", metadata: ["address": "\(bound)"])
      if !bound.isLocal {
        log.warning(
          "the admin endpoint is open to other machines without a password",
          metadata: ["address": "\(bound)"])
      }
    case .refused(let sentence):
      // A port that is taken is no reason not to record.
      log.error(
        "the admin endpoint cannot listen, will retry",
        metadata: ["address": "\(address)", "error": "\(sentence)"])
    }
  }
}
