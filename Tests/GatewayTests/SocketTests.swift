import HTTPTypes
import Market
import NIOCore
import TestSupport
import TestTraits
import Testing

@testable import Gateway

@Suite(.ownThread) struct SocketTests {
  @Test("what a client has already is not sent again", arguments: [false, true])
  func tags(overSocket: Bool) async throws {
    let fixture = try await ServedFixture()
    for path in ["/v1/stocks/sh600000", "/v1/stocks", "/v1/stocks/sh600000/history?interval=1m"] {
      let first = try await fixture.get(path, overSocket: overSocket)
      let tag = try #require(first.headers[.eTag])
      for known in [tag, "W/\(tag)"] {
        let second = try await fixture.get(
          path, headers: [.ifNoneMatch: "\"other\", \(known)"], overSocket: overSocket)
        #expect(second.status == 304 && second.body.isEmpty && second.headers[.eTag] == tag)
      }
      let third = try await fixture.get(
        path, headers: [.ifNoneMatch: "\"other\""], overSocket: overSocket)
      #expect(third.status == 200 && third.body == first.body)
    }
  }

  @Test("HEAD has the length of the answer and no body", arguments: [false, true])
  func head(overSocket: Bool) async throws {
    let fixture = try await ServedFixture()
    let full = try await fixture.get("/v1/stocks/sh600000", overSocket: overSocket)
    let head = try await fixture.get(
      "/v1/stocks/sh600000", method: .head, overSocket: overSocket)
    #expect(head.status == 200 && head.body.isEmpty)
    #expect(head.headers[.contentLength] == String(full.body.utf8.count))
    #expect(head.headers[.eTag] == full.headers[.eTag])
  }

  @Test("long answers are compressed for those who take it, under a tag of their own")
  func compression() async throws {
    let fixture = try await ServedFixture()
    let path = "/v1/stocks/sh600000/history?interval=1m"
    let plain = try await fixture.get(path, overSocket: true)
    let packed = try await fixture.get(
      path, headers: [.acceptEncoding: "gzip"], overSocket: true)
    #expect(packed.headers[.contentEncoding] == "gzip")
    #expect(packed.body.utf8.count < plain.body.utf8.count)
    let tag = try #require(packed.headers[.eTag])
    #expect(tag != plain.headers[.eTag])
    let again = try await fixture.get(
      path, headers: [.acceptEncoding: "gzip", .ifNoneMatch: tag], overSocket: true)
    #expect(again.status == 304)
    let short = try await fixture.get(
      "/livez", headers: [.acceptEncoding: "gzip"], overSocket: true)
    #expect(short.headers[.contentEncoding] == nil && short.body == #"{"status":"alive"}"#)
  }

  @Test("a head beyond its bound is refused, and the gateway goes on")
  func longHead() async throws {
    let fixture = try await ServedFixture()
    let name = try #require(HTTPField.Name("X-Long"))
    let reply = try? await fixture.get(
      "/v1/market", headers: [name: String(repeating: "a", count: 20_000)], overSocket: true)
    #expect(reply == nil || reply?.status == 431 || reply?.status == 400, "\(reply?.status ?? 0)")
    #expect(try await fixture.get("/v1/market", overSocket: true).status == 200)
  }
}
