import Testing
import Transport

@Suite struct HTTPClientLifetimeTests {
  /// A server that reports each request and never answers, and each client that goes away.
  private struct SilentServer {
    let server: LoopbackServer
    let arrived: AsyncStream<Void>
    let closed: AsyncStream<Void>

    init() throws {
      let (arrived, arrival) = AsyncStream<Void>.makeStream()
      let (closed, closing) = AsyncStream<Void>.makeStream()
      self.arrived = arrived
      self.closed = closed
      server = try LoopbackServer { connection in
        _ = connection.readHead()
        arrival.yield()
        connection.waitForClose()
        closing.yield()
      }
    }
  }

  @Test func `cancelling the task ends the transfer and its connection`() async throws {
    let silentServer = try SilentServer()
    let client = try HTTPClient()
    let request = try HTTPRequest(silentServer.server.base)
    let task = Task { await failure(client, request) }
    for await _ in silentServer.arrived { break }
    task.cancel()
    #expect(await task.value == .cancelled)
    for await _ in silentServer.closed { break }
  }

  @Test func `a task cancelled before it sends gets no answer`() async throws {
    let silentServer = try SilentServer()
    let client = try HTTPClient()
    let request = try HTTPRequest(silentServer.server.base)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await failure(client, request)
    }
    #expect(await task.value == .cancelled)
  }

  @Test func `a request beyond the bound is refused at once`() async throws {
    let silentServer = try SilentServer()
    var configuration = HTTPClientConfiguration()
    configuration.requestsMax = 1
    let client = try HTTPClient(configuration)
    let request = try HTTPRequest(silentServer.server.base)
    let task = Task { await failure(client, request) }
    for await _ in silentServer.arrived { break }
    #expect(await failure(client, request) == .tooManyInFlight)
    task.cancel()
    _ = await task.value
    var quick = request
    quick.deadlineMilliseconds = 20
    #expect(await failure(client, quick) == .timeout)
  }

  @Test func `shutdown ends what is in flight and refuses what comes after`() async throws {
    let silentServer = try SilentServer()
    let client = try HTTPClient()
    let request = try HTTPRequest(silentServer.server.base)
    let task = Task { await failure(client, request) }
    for await _ in silentServer.arrived { break }
    client.shutdown()
    #expect(await task.value == .shutDown)
    #expect(await failure(client, request) == .shutDown)
    client.shutdown()
  }

  @Test func `starting and stopping under load leaves no task waiting`() async throws {
    let server = try LoopbackServer(each: { connection, _ in connection.respond(body: [1]) })
    let request = try HTTPRequest(server.base)
    for _ in 0..<20 {
      let client = try HTTPClient()
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<20 {
          group.addTask {
            let task = Task { await failure(client, request) }
            if number % 3 == 0 { task.cancel() }
            let code = await task.value
            #expect(code == nil || code == .cancelled || code == .shutDown)
          }
        }
        group.addTask { client.shutdown() }
      }
    }
  }
}
