import AppStore
import Foundation
import HTTPTypes
import TestSupport
import TestTraits
import Testing

@testable import Gateway

/// The OpenAPI document against the gateway that serves it.
@Suite(.ownThread, .serialized) struct ContractTests {
  /// `script/fuzz contract` asks for more.
  private static let examples = environment["CANDLED_CONTRACT_EXAMPLES"] ?? "4"
  private static let environment = ProcessInfo.processInfo.environment

  @Test("whatever the document allows is answered as it says", .timeLimit(.minutes(25)))
  func contract() async throws {
    let gateway = try await WholeGateway()
    let seed =
      Self.environment["CANDLED_CONTRACT_SEED"] ?? String(Int.random(in: 0..<1 << 31))
    let token = gateway.secret.reveal()
    let outcome = try await gateway.listen { port in
      try PythonScript.run(
        "Tests/GatewayTests/Scripts/contract.py",
        ["http://127.0.0.1:\(port)", seed, Self.examples],
        environment: ["CANDLED_TOKEN": token], secondsMax: 1_200)
    }
    #expect(outcome.status == 0, "seed \(seed)\n\(outcome.output)")
    #expect(outcome.output.contains("Seed: \(seed)"), "\(outcome.output.suffix(2_000))")
  }

  @Test("every route declares its statuses, and no route lacks those of every request")
  func statuses() async throws {
    let gateway = try await WholeGateway()
    let document = try await gateway.ask("/v1/openapi.json").json
    let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
    #expect(paths["/v1/stream"]?["get"] != nil)
    let components = try #require(document["components"] as? [String: Any])
    let shared = try #require(components["responses"] as? [String: Any])
    for (path, methods) in paths {
      for (method, operation) in methods {
        let statuses = try #require(operation["responses"] as? [String: Any]).keys
        #expect(
          Set(["400", "401", "403", "405", "414", "429", "431", "500"]).isSubset(of: statuses),
          "\(method) \(path)")
        if operation["requestBody"] != nil {
          #expect(Set(["413", "415"]).isSubset(of: statuses), "\(path)")
        }
        if method == "get", path != "/v1/stream" { #expect(statuses.contains("304"), "\(path)") }
        let prefix = path.hasPrefix("/udf/") ? "udf-" : ""
        let others = statuses.filter { !$0.hasPrefix("2") }
        #expect(others.allSatisfy { shared[prefix + $0] != nil }, "\(path)")
      }
    }
  }

  @Test("only what everybody may read is without a token in the document")
  func security() async throws {
    let gateway = try await WholeGateway()
    let document = try await gateway.ask("/v1/openapi.json").json
    let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
    for route in gateway.table.routes where route.isAPI {
      let operation = try #require(paths[route.path]?[route.method.rawValue.lowercased()])
      let security = operation["security"] as? [[String: [String]]]
      switch route.scope {
      case nil: #expect(security == nil, "\(route.path)")
      case .market: #expect(security == [[:], ["token": ["market"]]], "\(route.path)")
      case let scope?: #expect(security == [["token": [scope.rawValue]]], "\(route.path)")
      }
      let reply = try await gateway.ask(
        route.path.replacing(#/\{\w+\}/#, with: "1"), method: route.method, bearer: "nothing")
      #expect(reply.status == 401, "\(route.path)")
    }
  }

  @Test("a stream says what is wrong with its request, and takes GET alone")
  func stream() async throws {
    let gateway = try await WholeGateway()
    let bearer: HTTPFields = [.authorization: "Bearer \(gateway.secret.reveal())"]
    let event = try #require(HTTPField.Name("Last-Event-ID"))
    try await gateway.listen { port in
      for (query, field) in [
        ("symbol=sh600000", "symbol"), ("every=2", "every"), ("symbols=a,,b", "symbols"),
        ("symbols=a&symbols=b", "symbols"), ("symbols=%ff", "symbols"),
      ] {
        let reply = try AskedRequest(path: "/v1/stream?\(query)", headers: bearer)
          .answer(fromPort: port)
        #expect(reply.status == 400, "\(query)")
        #expect(reply.headers[.contentType] == "application/problem+json")
        let errors = try reply.json["errors"] as? [[String: String]] ?? []
        #expect(errors.map { $0["field"] } == [field], "\(query) \(reply.body)")
      }
      let resumed = try AskedRequest(
        path: "/v1/stream", headers: bearer.merging([event: "yesterday"])
      ).answer(fromPort: port)
      #expect(resumed.status == 400 && resumed.body.contains("Last-Event-ID"))
      for method in [HTTPRequest.Method.head, .post, .delete] {
        let reply = try AskedRequest(path: "/v1/stream", method: method, headers: bearer)
          .answer(fromPort: port)
        #expect(reply.status == 405 && reply.headers[.allow] == "GET, OPTIONS", "\(method)")
      }
    }
  }
}

extension HTTPFields {
  fileprivate func merging(_ other: HTTPFields) -> HTTPFields {
    var all = self
    all.append(contentsOf: other)
    return all
  }
}
