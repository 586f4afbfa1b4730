import AppStore
import Foundation
import HTTPTypes
import TestTraits
import Testing

@testable import Gateway

@Suite(.ownThread) struct DoorTests {
  private static let door = Door(
    path: "/old", error: .named("OldError", .object([.init("wrong", .string)]))
  ) { problem in
    var text = JSONWriter()
    text.object { $0.member("wrong") { $0.string("\(problem.status.code) \(problem.code)") } }
    return text.bytes
  }

  private static func parts(_ control: AccessControl? = nil) -> Gateway.Parts {
    var parts = Gateway.Parts()
    parts.routes = [
      Route(
        "/old/price", summary: "A price.", scope: control == nil ? nil : .market,
        parameters: [Parameter("limit", .integer(1...5), summary: "How many.", example: "1")],
        answer: .string, problems: [.notFound, .serviceUnavailable], door: door
      ) { _ in throw Problem.storeAway }
    ]
    if let control { parts.access = AccessMiddleware(control) }
    return parts
  }

  @Test("each error behind a door is in its format, and no other is")
  func format() async throws {
    let fixture = try await ServedFixture(parts: Self.parts()) { _ in 0 }
    let cases: [(path: String, method: HTTPRequest.Method, wrong: String)] = [
      ("/old/price", .get, "503 store_away"), ("/old/price?limit=6", .get, "400 invalid_argument"),
      ("/old/nothing", .get, "404 not_found"), ("/old", .get, "404 not_found"),
      ("/old?a=b", .get, "404 not_found"), ("/old/price", .post, "405 method_not_allowed"),
      ("/old/" + String(repeating: "a", count: 9_000), .get, "414 target_too_long"),
    ]
    for (path, method, wrong) in cases {
      let reply = try await fixture.get(path, method: method)
      #expect(reply.body == "{\"wrong\":\"\(wrong)\"}", "\(path.prefix(40))")
      #expect(String(reply.status) == wrong.prefix(3))
      #expect(reply.headers[.contentType] == "application/json")
    }
    #expect(try await fixture.get("/old/price").headers[.retryAfter] == "2")
    for path in ["/older", "/v1/nothing"] {
      let reply = try await fixture.get(path)
      #expect(reply.status == 404 && reply.headers[.contentType] == "application/problem+json")
    }
  }

  @Test("what access control refuses is in the door's format, too")
  func refused() async throws {
    var options = AccessControl.Options()
    // Slow machines fill a bucket between two requests; not this one.
    options.addressRequests = 3
    let control = AccessControl(options, directory: TokenDirectory())
    control.directory.replace(with: [:])
    let fixture = try await ServedFixture(parts: Self.parts(control)) { _ in 0 }
    let bad: HTTPFields = [.authorization: "Bearer nothing"]
    let known = try await fixture.get("/old/price")
    #expect(known.status == 401 && known.body == #"{"wrong":"401 unauthenticated"}"#)
    let unknown = try await fixture.get("/old/nothing", headers: bad)
    #expect(unknown.body == #"{"wrong":"401 unauthenticated"}"#)
    var limited = unknown
    for _ in 0..<200 where limited.status != 429 { limited = try await fixture.get("/old/price") }
    #expect(limited.body == #"{"wrong":"429 too_many_requests"}"#)
    #expect(limited.headers[.retryAfter] != nil)
  }

  @Test("the OpenAPI document has the door's errors at its routes")
  func document() async throws {
    let fixture = try await ServedFixture(parts: Self.parts()) { _ in 0 }
    let document = try await fixture.get("/v1/openapi.json").json
    let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
    let responses = try #require(paths["/old/price"]?["get"]?["responses"] as? [String: Any])
    #expect(Set(["200", "400", "404"]).isSubset(of: responses.keys))
    #expect("\(responses["404"] ?? "")".contains("#/components/responses/old-404"))
    let components = try #require(document["components"] as? [String: [String: Any]])
    #expect(components["schemas"]?["OldError"] != nil)
    let text = "\(components["responses"]?["old-404"] ?? "")"
    #expect(text.contains("OldError") && text.contains("application/json"))
  }
}
