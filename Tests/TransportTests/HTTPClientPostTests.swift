import Glibc
import Platform
import Testing
import Transport

@Suite struct HTTPClientPostTests {
  @Test func `a body is posted byte for byte, and the next request is a GET again`() async throws {
    let heads = Locked<[String]>([])
    let server = try LoopbackServer(each: { connection, head in
      heads.withLock { $0.append(head) }
      var body: [UInt8] = []
      if head.hasPrefix("POST") {
        body = [0, 0, 0, 0, 0]
        #expect(recv(connection.descriptor, &body, body.count, Int32(MSG_WAITALL)) == body.count)
      }
      connection.respond(body: body)
    })
    let client = try HTTPClient()
    var request = try HTTPRequest(server.base, "/hook")
    request.body = [0x7B, 0x00, 0xFF, 0x0A, 0x7D]
    request.headers = [(name: "content-type", value: "application/json")]
    let posted = try await client.send(request)
    #expect(posted.body == request.body)
    request.body = nil
    #expect(try await client.send(request).body == [])
    let lines = heads.withLock { $0 }
    #expect(lines.map { $0.prefix { $0 != " " } } == ["POST", "GET"])
    #expect(lines[0].contains("content-type: application/json\r\n"))
    #expect(lines[0].contains("Content-Length: 5\r\n") && !lines[1].contains("Content-Length"))
  }

  @Test func `no connection is made to an address that is refused`() async throws {
    let connections = Tally()
    let server = try LoopbackServer { _ in connections.increment() }
    let asked = Locked<[String]>([])
    var configuration = HTTPClientConfiguration()
    configuration.refuses = { address in
      asked.withLock { $0.append(address) }
      return true
    }
    let client = try HTTPClient(configuration)
    #expect(await failure(client, try HTTPRequest(server.base)) == .refusedAddress)
    let named = try HTTPRequest("http://localhost:\(server.port)")
    #expect(await failure(client, named) == .refusedAddress)
    #expect(asked.withLock { $0.first } == "127.0.0.1" && connections.value == 0)
  }

  @Test func `an address that is not refused is connected to`() async throws {
    let server = try LoopbackServer(each: { connection, _ in connection.respond(body: [1]) })
    var configuration = HTTPClientConfiguration()
    configuration.refuses = { $0 != "127.0.0.1" }
    #expect(try await HTTPClient(configuration).send(HTTPRequest(server.base)).body == [1])
  }
}
