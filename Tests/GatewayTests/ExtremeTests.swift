import AppStore
import Foundation
import Glibc
import HTTPTypes
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// What a client names at the edges of what can be named, and connections that end as they begin.
@Suite(.ownThread, .serialized) struct ExtremeTests {
  private static let moments = [
    "0001-01-01T00:00:00Z", "0001-01-01T00:00:00%2B23:59", "0002-01-01", "1969-12-31T23:59:59Z",
    "9998-12-31T23:59:59Z", "9999-12-31", "9999-12-31T23:59:59-23:59",
  ]
  private static let numbers = [
    "-9223372036854775808", "-62135596800", "-62104060800", "0", "253370764799", "253402300799",
    "9223372036854775807",
  ]

  @Test("no moment and no number that a route takes stops the gateway or fails in it")
  func extremes() async throws {
    let gateway = try await WholeGateway()
    for route in gateway.table.routes where route.method == .get && !route.isStream {
      for parameter in route.parameters {
        let values =
          switch parameter.kind {
          case .moment: Self.moments
          case .day: ["0001-01-01", "9999-12-31"]
          case .integer: Self.numbers
          default: [String]()
          }
        for (value, symbol) in values.flatMap({ [($0, "AAPL"), ($0, "sh600000")] }) {
          let others = route.parameters.filter {
            $0.isRequired && $0.place == .query && $0.name != parameter.name
          }.map { "\($0.name)=\($0.name.hasPrefix("symbol") ? symbol : $0.example)" }
          let query = (others + ["\(parameter.name)=\(value)"]).joined(separator: "&")
          let path = route.path.replacing("{symbol}", with: symbol) + "?" + query
          let reply = try await gateway.ask(path)
          #expect(reply.status < 500, "\(path): \(reply.status) \(reply.body)")
        }
      }
    }
  }

  @Test(
    "connections that are reset as they become streams stop nobody",
    arguments: ["/ws", "/v1/stream?symbols=sh600000"])
  func resets(_ target: String) async throws {
    let gateway = try await WholeGateway()
    let secret = gateway.secret.reveal()
    try await gateway.listen { port in
      let head =
        "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(secret)\r\n"
        + "Upgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
      let frames = Array(repeating: [0x81, 0x80, 0, 0, 0, 0] as [UInt8], count: 300)
      for number in 0..<1_000 {
        Self.reset(after: Array(head.utf8) + frames.joined(), port: port, number: number)
      }
      let reply = try AskedRequest(path: "/livez").answer(fromPort: port)
      #expect(reply.status == 200)
      let counted = gateway.served.gateway.counters.figures.requests
      let path = String(target.prefix { $0 != "?" })
      #expect(counted.contains { $0.key.path == path && $0.key.status < 300 }, "\(counted)")
    }
  }

  /// Writes, waits a little, and ends the connection so that what was not read is thrown away.
  private static func reset(after bytes: [UInt8], port: Int, number: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var abrupt = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &abrupt, socklen_t(MemoryLayout<linger>.size))
    defer { close(descriptor) }
    guard LoopbackAddress.connect(descriptor, to: UInt16(port)) == 0 else { return }
    _ = write(descriptor, bytes, bytes.count)
    usleep(useconds_t(number % 10 * 100))
  }
}
