import TestSupport
import Testing
import Transport

@Suite struct HTTPClientTests {
  @Test func `an answer comes whole, with its headers`() async throws {
    let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let server = try LoopbackServer(each: { connection, _ in
      connection.respond(
        headers: "Content-Type: text/html; charset=GBK\r\nRETRY-AFTER:  7 \r\nX-Other: 1\r\n",
        body: body)
    })
    let client = try HTTPClient()
    let response = try await client.send(HTTPRequest(server.base))
    #expect(response.status == 200)
    #expect(response.body == body)
    #expect(response.headers["content-type"] == "text/html; charset=GBK")
    #expect(response.headers["Retry-After"] == "7")
    #expect(response.headers["X-Other"] == nil)
  }

  @Test func `path and headers reach the server byte for byte`() async throws {
    let server = try LoopbackServer(each: { connection, head in
      connection.respond(body: Array(head.utf8))
    })
    var request = try HTTPRequest(server.base, "/../rn=1&list=sh600519,gb_$ixic")
    request.headers = [("Referer", "https://finance.sina.com.cn/"), ("X-Empty", "")]
    let head = try await HTTPClient().send(request).body
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    #expect(lines.first == "GET /../rn=1&list=sh600519,gb_$ixic HTTP/1.1")
    #expect(lines.contains("Referer: https://finance.sina.com.cn/"))
    #expect(lines.contains("X-Empty:"))
    #expect(lines.contains { $0.hasPrefix("Accept-Encoding:") && $0.contains("gzip") })
  }

  @Test(arguments: ["403 Forbidden", "456 Client Error", "500 Oops"])
  func `every status is an answer`(_ status: String) async throws {
    let server = try LoopbackServer(each: { connection, _ in
      connection.respond(status, body: Array("Kinsoku jikou desu!".utf8))
    })
    let response = try await HTTPClient().send(HTTPRequest(server.base))
    #expect(String(response.status) == status.prefix(3))
    #expect(response.body == Array("Kinsoku jikou desu!".utf8))
  }

  @Test func `a redirect is an answer and is not followed`() async throws {
    let visits = Tally()
    let server = try LoopbackServer(each: { connection, _ in
      visits.increment()
      connection.respond("302 Found", headers: "Location: /elsewhere\r\n", body: [])
    })
    let response = try await HTTPClient().send(HTTPRequest(server.base))
    #expect(response.status == 302)
    #expect(visits.value == 1)
  }

  @Test func `only the final answer's headers count`() async throws {
    let server = try LoopbackServer(each: { connection, _ in
      connection.send("HTTP/1.1 103 Early Hints\r\nRetry-After: 9\r\n\r\n")
      connection.respond(body: [1])
    })
    let response = try await HTTPClient().send(HTTPRequest(server.base))
    #expect(response.status == 200)
    #expect(response.headers["retry-after"] == nil)
  }

  @Test(arguments: [("", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Age: 12\r\n", nil)])
  func `an answer out of a cache has no date`(_ more: String, _ date: String?) async throws {
    let server = try LoopbackServer(each: { connection, _ in
      connection.respond(headers: "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n" + more, body: [1])
    })
    #expect(try await HTTPClient().send(HTTPRequest(server.base)).date == date)
  }

  @Test func `a connection is used again`() async throws {
    let connections = Tally()
    let server = try LoopbackServer { connection in
      connections.increment()
      while connection.readHead() != nil { connection.respond(body: [1]) }
    }
    let client = try HTTPClient()
    for _ in 0..<10 { _ = try await client.send(HTTPRequest(server.base)) }
    // On a starved machine an idle connection may be given up once, but not as a rule.
    #expect((1...2).contains(connections.value))
  }

  @Test func `many requests at once all get their own answer`() async throws {
    let server = try LoopbackServer(each: { connection, head in
      connection.respond(body: Array(head.prefix { $0 != "H" }.utf8))
    })
    let client = try HTTPClient()
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in 0..<60 {
        group.addTask {
          let body = try await client.send(HTTPRequest(server.base, "/\(number)")).body
          return body == Array("GET /\(number) ".utf8)
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }

  @Test func `no more transfers run at once than allowed`() async throws {
    let connections = Tally()
    let server = try LoopbackServer { connection in
      connections.increment()
      while connection.readHead() != nil { connection.respond(body: [1]) }
    }
    var configuration = HTTPClientConfiguration()
    configuration.transfersMax = 2
    let client = try HTTPClient(configuration)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<40 {
        group.addTask { _ = try await client.send(HTTPRequest(server.base)) }
      }
      try await group.waitForAll()
    }
    #expect(connections.value <= 2)
  }

  @Test func `gzip is inflated`() async throws {
    let packed = try #require(Shell.output(of: "printf 'var hq_str_sh600519' | gzip -c"))
    let server = try LoopbackServer(each: { connection, _ in
      connection.respond(headers: "Content-Encoding: gzip\r\n", body: packed)
    })
    let response = try await HTTPClient().send(HTTPRequest(server.base))
    #expect(response.body == Array("var hq_str_sh600519".utf8))
  }
}
