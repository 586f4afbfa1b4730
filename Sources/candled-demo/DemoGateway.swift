import Commands
import Foundation
import Glibc
import Operations
import Platform
import Transport

/// The gateway beside a demo: the program `candled-gateway`, which lies beside this one, on the
/// demo's database and a port of loopback. Market data needs no token there; the page gets one for
/// its watchlists and its paper account, which has money from the start.
final class DemoGateway {
  /// `http://127.0.0.1:8466`
  let address: String
  private let token: String
  private let process: Process

  private static let portPreferred: UInt16 = 8466
  private static let startSecondsMax = 10

  /// - Throws: `CommandFailure` if the program is missing or does not start.
  init(folder: DemoFolder) async throws {
    let port = try Self.freePort()
    address = "http://127.0.0.1:\(port)"
    let settings = ["--set", "state_directory=\(folder.path)"]
    _ = try Self.printed(by: ["schema", "apply"] + settings)
    token = try Self.printed(
      by: ["token", "create", "--name", "demo", "--scope", "market"]
        + ["--scope", "account", "--scope", "trade"]
        + ["--set", "log.level=error"] + settings)
    process = try Self.start(
      ["run", "--set", "gateway.listen=127.0.0.1:\(port)", "--set", "gateway.anonymous=true"]
        + ["--set", "gateway.broker_follows_daemon=true", "--set", "log.level=error"] + settings)
    try wait(until: port)
    await Self.openAccount(at: address, token: token)
  }

  /// What a person can look at, and try: each line as it is typed. The page takes the token out of
  /// its address, which browsers do not send.
  func lines(symbol: String) -> [String] {
    [
      "page: \(address)/#token=\(token)",
      "curl \(address)/v1/stocks/\(symbol)",
      "curl -N '\(address)/v1/stream?symbols=\(symbol)'",
      "/usr/bin/python3 -m websockets \(address.replacing("http:", with: "ws:"))/ws",
      #"{"action":"subscribe","channels":[{"name":"stock-prices","symbols":["\#(symbol)"]}]}"#,
    ]
  }

  /// What a paper account is opened with.
  private static let cash = "1000000"
  /// A gateway waits up to five seconds for what it was asked to do.
  private static let millisecondsMax = 8_000

  /// A demo without an account is a demo still: the page can open one.
  private static func openAccount(at address: String, token: String) async {
    let requests = [
      ("/v1/accounts", #"{"name":"Demo","market":"A"}"#),
      ("/v1/account/deposits", #"{"amount":"\#(cash)","type":"bank"}"#),
    ]
    for (path, json) in requests {
      let reason: String
      do throws(TransportError) {
        var request = HTTPRequest(
          base: try BaseAddress(parsing: address), path: path,
          headers: [("Authorization", "Bearer \(token)"), ("Content-Type", "application/json")],
          deadlineMilliseconds: millisecondsMax, route: path)
        request.body = Array(json.utf8)
        let status = try await HTTPClient().send(request).status
        if (200..<300).contains(status) { continue }
        reason = "HTTP \(status)"
      } catch {
        reason = error.sentence
      }
      StandardError.writeLine("the demo has no paper account with money: \(path): \(reason)")
      return
    }
  }

  func stop() {
    guard process.isRunning else { return }
    process.terminate()
    process.waitUntilExit()
  }

  /// The line that a command prints; what it reports is shown only if it fails.
  private static func printed(by arguments: [String]) throws -> String {
    let (output, errors) = (Pipe(), Pipe())
    let process = try start(arguments, output: output, errors: errors)
    // Both at once: a program waits whose pipe is full.
    let reports = Locked(Data())
    let isRead = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      let read = (try? errors.fileHandleForReading.readToEnd()) ?? Data()
      reports.withLock { $0 = read }
      isRead.signal()
    }
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    isRead.wait()
    process.waitUntilExit()
    let texts = [printed, reports.withLock { $0 }].map {
      String(decoding: $0, as: UTF8.self).split(separator: "\n").joined(separator: "\n")
    }
    guard process.terminationStatus == 0 else {
      throw CommandFailure(
        status: .unavailable,
        sentence: "candled-gateway \(arguments[0]) \(arguments[1]): \(texts[1])")
    }
    return texts[0]
  }

  private static func start(
    _ arguments: [String], output: Any = FileHandle.standardError,
    errors: Any = FileHandle.standardError
  ) throws -> Process {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appending(path: "candled-gateway")
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = errors
    do {
      try process.run()
    } catch {
      throw CommandFailure(
        status: .unavailable,
        sentence: "cannot start candled-gateway beside candled-demo: build it, or leave out "
          + "--gateway")
    }
    return process
  }

  private func wait(until port: UInt16) throws {
    let deadline = ContinuousClock.now + .seconds(Self.startSecondsMax)
    while !Self.isTaken(port) {
      guard process.isRunning, ContinuousClock.now < deadline else {
        stop()
        throw CommandFailure(status: .unavailable, sentence: "candled-gateway did not start")
      }
      usleep(20_000)
    }
  }

  // MARK: Ports

  /// The one that the documents name, else any.
  private static func freePort() throws -> UInt16 {
    if let port = bound(to: portPreferred) ?? bound(to: 0) { return port }
    throw CommandFailure(status: .unavailable, sentence: "no port of 127.0.0.1 is free")
  }

  private static func isTaken(_ port: UInt16) -> Bool { bound(to: port) == nil }

  /// The port that a socket got, which is closed again; nil if it is taken.
  private static func bound(to port: UInt16) -> UInt16? {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var reuse: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        guard bind(descriptor, raw, length) == 0, getsockname(descriptor, raw, &length) == 0
        else { return nil }
        return UInt16(bigEndian: pointer.pointee.sin_port)
      }
    }
  }
}
