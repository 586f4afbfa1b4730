import TestSupport
import Testing
import Transport

@Suite struct HTTPClientFaultTests {
  @Test func `a gzip bomb is cut off at the cap`() async throws {
    let bomb = try #require(Shell.output(of: "head -c 67108864 /dev/zero | gzip -9c"))
    #expect(bomb.count > 0 && 67_108_864 / bomb.count > 900)
    let server = try LoopbackServer(each: { connection, _ in
      connection.respond(headers: "Content-Encoding: gzip\r\n", body: bomb)
    })
    var request = try HTTPRequest(server.base)
    request.bodyBytesMax = 1 << 20
    #expect(bomb.count < request.bodyBytesMax)
    #expect(await failure(try HTTPClient(), request) == .bodyTooLarge)
  }

  @Test func `an announced body beyond the cap is refused before it comes`() async throws {
    let server = try LoopbackServer { connection in
      _ = connection.readHead()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n")
      connection.waitForClose()
    }
    var request = try HTTPRequest(server.base)
    request.bodyBytesMax = 1_000
    #expect(await failure(try HTTPClient(), request) == .bodyTooLarge)
  }

  @Test func `a body exactly at the cap is an answer, one byte more is not`() async throws {
    let server = try LoopbackServer { connection in
      _ = connection.readHead()
      connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
      connection.send([UInt8](repeating: 7, count: 1_000))
    }
    var request = try HTTPRequest(server.base)
    request.bodyBytesMax = 1_000
    let client = try HTTPClient()
    #expect(try await client.send(request).body.count == 1_000)
    request.bodyBytesMax = 999
    #expect(await failure(client, request) == .bodyTooLarge)
  }

  @Test func `an endless header is cut off`() async throws {
    let server = try LoopbackServer { connection in
      _ = connection.readHead()
      connection.send("HTTP/1.1 200 OK\r\n")
      let line = "X-Filler: " + String(repeating: "x", count: 1_000) + "\r\n"
      for _ in 0..<200 { connection.send(line) }
      connection.waitForClose()
    }
    #expect(await failure(try HTTPClient(), try HTTPRequest(server.base)) == .bodyTooLarge)
  }

  @Test func `a server that never answers runs into the deadline`() async throws {
    let server = try LoopbackServer { $0.waitForClose() }
    var request = try HTTPRequest(server.base)
    request.deadlineMilliseconds = 50
    #expect(await failure(try HTTPClient(), request) == .timeout)
  }

  @Test func `a body that stops in the middle runs into the deadline`() async throws {
    let server = try LoopbackServer { connection in
      _ = connection.readHead()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
      connection.waitForClose()
    }
    var request = try HTTPRequest(server.base)
    request.deadlineMilliseconds = 50
    #expect(await failure(try HTTPClient(), request) == .timeout)
  }

  @Test func `a trickling body runs into the low-speed guard`() async throws {
    let server = try LoopbackServer { connection in
      _ = connection.readHead()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nh")
      connection.waitForClose()
    }
    var configuration = HTTPClientConfiguration()
    configuration.lowSpeedSeconds = 1
    let client = try HTTPClient(configuration)
    #expect(await failure(client, try HTTPRequest(server.base)) == .timeout)
  }

  @Test func `the deadline counts the time spent waiting for a free transfer`() async throws {
    let (arrived, arrival) = AsyncStream<Void>.makeStream()
    let server = try LoopbackServer { connection in
      _ = connection.readHead()
      arrival.yield()
      connection.waitForClose()
    }
    var configuration = HTTPClientConfiguration()
    configuration.transfersMax = 1
    configuration.lowSpeedSeconds = 600
    let client = try HTTPClient(configuration)
    var blocking = try HTTPRequest(server.base)
    blocking.deadlineMilliseconds = 600_000
    let blocker = Task { await failure(client, blocking) }
    for await _ in arrived { break }
    var request = blocking
    request.deadlineMilliseconds = 50
    #expect(await failure(client, request) == .timeout)
    blocker.cancel()
    let end = await blocker.value
    #expect(end == .cancelled)
  }

  @Test func `a reset in the body is a reset`() async throws {
    let server = try LoopbackServer { connection in
      _ = connection.readHead()
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
      connection.resetOnClose()
    }
    let code = await failure(try HTTPClient(), try HTTPRequest(server.base))
    #expect(code == .reset || code == .truncated)
  }

  @Test func `a close before the answer is a reset`() async throws {
    let server = try LoopbackServer { connection in _ = connection.readHead() }
    #expect(await failure(try HTTPClient(), try HTTPRequest(server.base)) == .reset)
  }

  @Test(arguments: [
    "Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf",
  ])
  func `a body shorter than announced is truncated`(_ tail: String) async throws {
    let server = try LoopbackServer { connection in
      _ = connection.readHead()
      connection.send("HTTP/1.1 200 OK\r\n" + tail)
    }
    #expect(await failure(try HTTPClient(), try HTTPRequest(server.base)) == .truncated)
  }

  @Test func `damaged compression has an error of its own`() async throws {
    let server = try LoopbackServer(each: { connection, _ in
      connection.respond(
        headers: "Content-Encoding: gzip\r\n", body: [UInt8](repeating: 0x41, count: 64))
    })
    #expect(await failure(try HTTPClient(), try HTTPRequest(server.base)) == .encoding)
  }

  @Test func `what is not HTTP is not an answer`() async throws {
    let server = try LoopbackServer { connection in
      _ = connection.readHead()
      connection.send("\u{3}\u{0}garbage\r\n\r\n")
    }
    #expect(await failure(try HTTPClient(), try HTTPRequest(server.base)) != nil)
  }

  @Test func `nobody listening is a connect error`() async throws {
    let port = try LoopbackServer({ _ in }).port
    let code = await failure(try HTTPClient(), try HTTPRequest("http://127.0.0.1:\(port)"))
    #expect(code == .connect)
  }

  @Test(arguments: ["list", "/a b", "/a\r\nHost: evil"])
  func `an invalid path is never sent`(_ path: String) async throws {
    let visits = Tally()
    let server = try LoopbackServer { _ in visits.increment() }
    let code = await failure(try HTTPClient(), try HTTPRequest(server.base, path))
    #expect(code == .invalidRequest)
    #expect(visits.value == 0)
  }

  @Test(arguments: [("A", "1\r\nB: 2"), ("A\r\nB", "1"), ("", "1"), ("A:", "1"), ("A", "\0")])
  func `a header that could smuggle another is never sent`(
    _ name: String, _ value: String
  ) async throws {
    let visits = Tally()
    let server = try LoopbackServer { _ in visits.increment() }
    var request = try HTTPRequest(server.base)
    request.headers = [(name, value)]
    #expect(await failure(try HTTPClient(), request) == .invalidRequest)
    #expect(visits.value == 0)
  }

  @Test func `an error names the route and nothing that was sent`() async throws {
    let server = try LoopbackServer { connection in _ = connection.readHead() }
    var request = try HTTPRequest(server.base, "/key/secret")
    request.headers = [("Authorization", "secret")]
    do throws(TransportError) {
      _ = try await HTTPClient().send(request)
      Issue.record("the server never answers")
    } catch {
      #expect(error.description == "test: the connection broke before the response was complete")
      #expect(!String(reflecting: error).contains("secret"))
      #expect(!String(reflecting: error).contains("127.0.0.1"))
    }
  }
}
