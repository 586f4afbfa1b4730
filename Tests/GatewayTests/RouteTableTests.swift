import Foundation
import HTTPTypes
import Market
import TestSupport
import TestTraits
import Testing

@testable import Gateway

@Suite(.ownThread) struct RouteTableTests {
  @Test("what a request has wrong is named by field")
  func faults() async throws {
    let fixture = try await ServedFixture()
    let history = "/v1/stocks/sh600000/history"
    let cases: [(path: String, field: String)] = [
      ("/v1/stocks?symbol=sh600000", "symbol"), ("/v1/stocks?limit=0", "limit"),
      ("/v1/stocks?limit=-10", "limit"), ("/v1/stocks?sort=name", "sort"),
      ("/v1/stocks?q=", "q"), ("/v1/stocks?q=%ff", "q"),
      ("/v1/stocks?q=%00", "q"), ("/v1/stocks?symbols=a,,b", "symbols"),
      ("/v1/stocks?cursor=MTIz=", "cursor"), ("/v1/stocks/sh600000?source=No", "source"),
      ("\(history)?interval=2m", "interval"), ("\(history)?period=2d", "period"),
      ("\(history)?from=yesterday", "from"),
      ("\(history)?points=3", "points"), ("\(history)?adjust=qfq:2026-02-30", "adjust"),
      ("\(history)?interval=1d&interval=1m", "interval"),
      ("/v1/stocks/sh600000/why", "at"), ("/v1/coverage?day=2026-7-6", "day"),
      ("/livez?a=b", "a"),
    ]
    for (path, field) in cases {
      let reply = try await fixture.get(path)
      #expect(reply.status == 400, "\(path)")
      #expect(reply.headers[.contentType] == "application/problem+json")
      let errors = try reply.json["errors"] as? [[String: String]] ?? []
      #expect(errors.map { $0["field"] } == [field], "\(path) \(reply.body)")
      #expect(errors.allSatisfy { $0["expected"]?.isEmpty == false })
    }
  }

  @Test("what is valid and not there is answered with the code of what is missing")
  func missing() async throws {
    let fixture = try await ServedFixture()
    let history = "/v1/stocks/sh600000/history"
    let cases: [(path: String, status: Int, code: String)] = [
      ("/v1/stocks?cursor=MTIz", 404, "unknown_cursor"),
      ("\(history)?cursor=MTIz", 404, "unknown_cursor"),
      ("/v1/stocks/sh600000/gaps?cursor=MTIz", 404, "unknown_cursor"),
      ("/v1/disagreements?cursor=MTIz", 404, "unknown_cursor"),
      ("/v1/coverage?cursor=MTIz", 404, "unknown_cursor"),
      ("/v1/stocks/sh600000?source=nothing", 404, "unknown_source"),
      ("\(history)?adjust=qfq", 409, "unanswerable"),
    ]
    for (path, status, code) in cases {
      let reply = try await fixture.get(path)
      #expect(try reply.status == status && reply.json["code"] as? String == code, "\(path)")
    }
  }

  @Test("bounds that contradict each other are a range without candles")
  func emptyRanges() async throws {
    let fixture = try await ServedFixture()
    let history = "/v1/stocks/sh600000/history?interval=1m"
    let empty = [
      "from=2026-07-06&to=2026-07-05", "period=1d&from=2026-07-08", "period=ytd&to=0002-01-02",
      "period=max&to=0002-01-02", "to=2026-07-06&period=5d",
    ]
    for query in empty {
      let reply = try await fixture.get("\(history)&\(query)")
      #expect(
        try reply.status == 200 && (reply.json["rows"] as? [Any])?.isEmpty == true, "\(query)")
    }
    let revisions = try await fixture.get(
      "/v1/stocks/sh600000/revisions?from=2026-07-07&to=2026-07-06")
    #expect(revisions.status == 200 && revisions.body.contains("[]"))
    for query in ["period=1d&from=2026-07-01", "period=1d&to=2026-07-07", "fill=flat"] {
      let reply = try await fixture.get("\(history)&\(query)")
      #expect(try (reply.json["rows"] as? [Any])?.count == 120, "\(query)")
    }
  }

  @Test("an unknown symbol is answered with the nearest ones")
  func unknownSymbol() async throws {
    let fixture = try await ServedFixture()
    for path in ["/v1/stocks/sh600010", "/v1/stocks/sh600010/gaps", "/v1/coverage?symbol=sh600010"]
    {
      let reply = try await fixture.get(path)
      #expect(reply.status == 404)
      #expect(try reply.json["code"] as? String == "unknown_symbol")
      #expect((try reply.json["nearest"] as? [String])?.contains("sh600000") == true)
    }
  }

  @Test("other paths and methods are answered plainly")
  func paths() async throws {
    let fixture = try await ServedFixture()
    for path in ["/v1", "/v1/stocks/", "/v1/stocks/a/b/c", "/v2/stocks", "//"] {
      #expect(try await fixture.get(path).status == 404, "\(path)")
    }
    let post = try await fixture.get("/v1/stocks/sh600000", method: .post)
    #expect(post.status == 405 && post.headers[.allow] == "GET, HEAD, OPTIONS")
    let options = try await fixture.get("/v1/stocks/sh600000", method: .options)
    #expect(options.status == 204 && options.headers[.allow] == "GET, HEAD, OPTIONS")
    let long = try await fixture.get("/v1/stocks?q=" + String(repeating: "a", count: 9_000))
    #expect(long.status == 414)
  }

  @Test("a damaged cursor, or one of another request, is refused")
  func cursors() throws {
    let seed = UInt64.random(in: .min ... .max)
    var random = SplitMix(seed: seed)
    for _ in 0..<500 {
      let value = Int64.random(in: 0...Int64.max, using: &random)
      let text = Cursor.text(value, of: "one")
      #expect(Cursor.read(text, of: "one") == value, "seed \(seed)")
      #expect(Cursor.read(text, of: "other") == nil, "seed \(seed)")
      var damaged = Array(text.utf8)
      let index = Int.random(in: 0..<damaged.count, using: &random)
      damaged[index] = damaged[index] == 65 ? 66 : 65
      #expect(Cursor.read(String(decoding: damaged, as: UTF8.self), of: "one") == nil)
    }
  }

  @Test("the document lists exactly the routes, and refers to nothing it lacks")
  func document() async throws {
    let fixture = try await ServedFixture()
    let reply = try await fixture.get("/v1/openapi.json")
    let paths = try #require(try reply.json["paths"] as? [String: [String: Any]])
    let listed = paths.flatMap { path, methods in methods.keys.map { "\($0) \(path)" } }
    let table = fixture.gateway.table(fixture.parts).routes.filter(\.isAPI)
    #expect(
      listed.sorted() == table.map { "\($0.method.rawValue.lowercased()) \($0.path)" }.sorted())
    let components = try reply.json["components"] as? [String: Any]
    let schemas = try #require(components?["schemas"] as? [String: Any])
    for reference in reply.body.matches(of: #/"#\/components\/schemas\/(\w+)"/#) {
      #expect(schemas[String(reference.1)] != nil)
    }
    for route in table {
      for parameter in route.parameters where !parameter.example.isEmpty {
        #expect(parameter.fault(of: parameter.example) == nil, "\(route.path) \(parameter.name)")
      }
    }
  }
}
