import Operations
import Transport

/// Requests to the endpoint of a daemon on this machine: a few seconds at most and a response of
/// bounded size, for what listens there may be anything.
package enum AdminClient {
  private static let millisecondsMax = 3_000
  private static let bytesMax = 1 << 20

  package static func get(
    _ path: String, from address: ListenAddress
  ) async throws(TransportError) -> (status: Int, body: String) {
    var configuration = HTTPClientConfiguration()
    var authority = address.description
    if case .unix(let socket) = address {
      configuration.socketPath = socket
      authority = "localhost"
    }
    let client = try HTTPClient(configuration)
    let request = HTTPRequest(
      base: try BaseAddress(parsing: "http://\(authority)"), path: path,
      headers: [("Host", "localhost")], deadlineMilliseconds: millisecondsMax,
      bodyBytesMax: bytesMax, route: "")
    let response = try await client.send(request)
    return (response.status, String(decoding: response.body, as: UTF8.self))
  }
}
