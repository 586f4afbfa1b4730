import Foundation
import Glibc
import Platform
import TestSupport

/// The built gateway, with no database behind it, and fifteen thousand clients at a time that send
/// heads and bodies which never end, heads and frames that are too large or forbidden, or go
/// abruptly. It answers /livez throughout, ends them all, its memory is bounded, and afterwards it
/// serves.
package struct StormTrial {
  /// Of the daemon; that of the gateway is beside it.
  private let binary: String
  private let connections: Int
  /// Whether heads and bodies that never end are among them.
  package var hasEndless = true

  /// The gateway's patience is two minutes at most; a busy machine takes a while for so many.
  private static let endSecondsMax = 150
  private static let startSecondsMax = 20
  /// A new connection with its answer, behind a storm on two cores that are shared with it.
  private static let answerSecondsMax = 10
  /// 50 MB without a client; a connection has its handlers, a task, and 16 KiB that were read.
  private static let baseMebibytesMax = 96
  private static let connectionBytesMax = 64 << 10
  /// Until most connections stand: the kernel tries again after one second.
  private static let settleMicroseconds: useconds_t = 2_000_000
  /// Beside the storm: /livez, the trial's own.
  private static let connectionsMore = 500

  package init(binary: String, connections: Int) {
    self.binary = binary
    self.connections = connections
  }

  package func run(_ say: (String) -> Void) throws -> ChaosVerdict {
    var verdict = ChaosVerdict()
    let descriptors = StormClients.raiseDescriptorLimit()
    guard descriptors > connections + Self.connectionsMore else {
      throw TrialFailure("only \(descriptors) descriptors may be open")
    }
    let folder = NSTemporaryDirectory() + "candled-storm-\(getpid())"
    let port = try LoopbackListener.freePort()
    let gateway = try process(folder: folder, port: port)
    defer {
      gateway.kill()
      try? FileManager.default.removeItem(atPath: folder)
    }
    try start(gateway, port: port)
    let base = ProcessProbe(gateway.pid)?.mebibytes ?? 0
    for storm in Storm.all where hasEndless || !storm.isEndless {
      let line = try run(storm, against: gateway, port: port, to: &verdict)
      say(line)
      verdict.figures.append(line)
    }
    let peak = (ProcessProbe(gateway.pid)?.peakKibibytes ?? 0) / 1_024
    verdict.figures.append("\(Int(base)) MiB before, \(peak) MiB at most")
    let bound = Self.baseMebibytesMax + (connections * Self.connectionBytesMax) >> 20
    if peak > bound { verdict.complaints.append("\(peak) MiB is more than \(bound)") }
    try stop(gateway, port: port, to: &verdict)
    return verdict
  }

  /// It serves what it knows, which is nothing, and lets anybody in.
  private func process(folder: String, port: UInt16) throws -> DaemonProcess {
    var settings = DaemonSettings()
    settings["gateway.listen"] = "\"127.0.0.1:\(port)\""
    settings["gateway.store_url"] = "\"postgres://nobody@127.0.0.1:9/none?connect_timeout=1\""
    settings["gateway.anonymous"] = "true"
    settings["gateway.address_requests_per_second"] = "0"
    settings["gateway.connections_max"] = "\(connections + Self.connectionsMore)"
    let program = URL(fileURLWithPath: binary).deletingLastPathComponent()
      .appendingPathComponent("candled-gateway").path
    return try DaemonProcess(binary: program, folder: folder, settings: settings)
  }

  private func start(_ gateway: DaemonProcess, port: UInt16) throws {
    try gateway.start()
    let deadline = MonotonicClock.milliseconds() + Int64(Self.startSecondsMax) * 1_000
    while AdminScraper.get("/livez", port: port) == nil {
      guard gateway.isRunning, MonotonicClock.milliseconds() < deadline else {
        throw TrialFailure("the gateway does not serve: \(gateway.logTail)")
      }
      usleep(20_000)
    }
  }

  private func run(
    _ storm: Storm, against gateway: DaemonProcess, port: UInt16, to verdict: inout ChaosVerdict
  ) throws -> String {
    let clients = StormClients(port: port)
    let watch = LivezWatch(port: port, secondsMax: Self.answerSecondsMax)
    let began = MonotonicClock.milliseconds()
    let failed = clients.open(connections)
    if failed > 0 { verdict.complaints.append("\(storm.name): \(failed) were not opened") }
    let opened = MonotonicClock.milliseconds()
    usleep(Self.settleMicroseconds)
    var (step, resident) = (0, 0.0)
    while clients.count > 0,
      MonotonicClock.milliseconds() - opened < Int64(Self.endSecondsMax) * 1_000
    {
      clients.send { storm.bytes(of: $0, step: step) }
      step += 1
      usleep(200_000)
      clients.readAll()
      if storm.isAbrupt, step > 5 { clients.close(abruptly: true) }
      resident = max(resident, ProcessProbe(gateway.pid)?.mebibytes ?? 0)
    }
    let ended = MonotonicClock.milliseconds()
    let answers = watch.stop()
    if clients.count > 0 {
      verdict.complaints.append("\(storm.name): \(clients.count) are still open")
    }
    clients.close()
    if answers.missing > 0 || answers.count == 0 {
      verdict.complaints.append("\(storm.name): /livez \(answers.missing) times without answer")
    }
    guard gateway.isRunning else {
      throw TrialFailure("\(storm.name): the gateway ended: \(gateway.logTail)")
    }
    let page = AdminScraper.get("/v1/openapi.json", port: port, secondsMax: Self.answerSecondsMax)
    if page?.starts(with: "HTTP/1.1 200".utf8) != true {
      verdict.complaints.append("\(storm.name): not served afterwards")
    }
    return "\(storm.name): opened in \(opened - began) ms, all ended after "
      + "\((ended - opened) / 1_000) s; \(answers.count) x /livez, median "
      + "\(answers.median) ms, slowest \(answers.slowest) ms; \(Int(resident)) MiB"
  }

  /// SIGTERM while clients connect: it must end as it always does.
  private func stop(
    _ gateway: DaemonProcess, port: UInt16, to verdict: inout ChaosVerdict
  ) throws {
    let clients = StormClients(port: port)
    _ = clients.open(connections / 2)
    gateway.signal(SIGTERM)
    _ = clients.open(connections / 2)
    let status = gateway.end(secondsMax: Self.startSecondsMax)
    verdict.figures.append("stopped in a storm: exit status \(status.map { "\($0)" } ?? "none")")
    if status != 0 { verdict.complaints.append("it did not stop in order: \(gateway.logTail)") }
  }
}

/// What each client sends first, and then, five times a second.
private struct Storm: Sendable {
  var name: String
  var isAbrupt = false
  /// It lasts as long as the gateway's patience.
  var isEndless = false
  /// Each client's number chooses.
  var first: [[UInt8]]
  var second: [[UInt8]] = [[]]

  /// One more byte every five seconds. The kernel may have forgotten connections that the gateway
  /// never saw, and says so to whoever sends.
  private static let trickleSteps = 25

  func bytes(of number: Int, step: Int) -> [UInt8] {
    switch step {
    case 0: first[number % first.count]
    case 1: second[number % second.count]
    default: step % Self.trickleSteps == 0 ? [UInt8(ascii: "1")] : []
    }
  }

  private static let head = Array("GET /v1/market HTTP/1.1\r\nHost: x\r\nX-Slow: ".utf8)
  private static let upgrade = Array(
    ("GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").utf8)
  private static let long = [UInt8](repeating: UInt8(ascii: "a"), count: 16 << 10)
  /// Refused with and without a token, a body where none belongs, one in chunks, trailers.
  private static let bodies = [
    "POST /v1/watchlists HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n{",
    "POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n{",
    "GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n{",
    "GET /v1/market HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffff\r\n{",
    "GET /v1/market HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ",
  ].map { Array($0.utf8) }
  /// Unmasked, wrong UTF-8, reserved, of 2^63 bytes, a control frame in fragments, an endless
  /// message in fragments.
  private static let frames: [[UInt8]] = [
    [0x81, 0x02, 0x7B, 0x7D], [0x81, 0x82, 0, 0, 0, 0, 0xC3, 0x28], [0x83, 0x80, 0, 0, 0, 0],
    [0x81, 0xFF] + [UInt8](repeating: 0x7F, count: 12), [0x09, 0x80, 0, 0, 0, 0],
    [0x01, 0x80, 0, 0, 0, 0]
      + (0..<500).flatMap { _ -> [UInt8] in [0x00, 0x81, 0, 0, 0, 0, 0x20] },
  ]

  static let all = [
    Storm(name: "heads of 16 KiB", first: [head + long, Array("GET /".utf8) + long]),
    Storm(name: "bad frames", first: [upgrade], second: frames),
    Storm(name: "resets", isAbrupt: true, first: [upgrade, head], second: [[0x81, 0xFE]]),
    Storm(
      name: "heads that never end", isEndless: true, first: [head, [], Array(upgrade.dropLast(2))]),
    Storm(name: "bodies that never end", isEndless: true, first: bodies),
  ]
}

/// Asks /livez on a new connection, ten times a second.
private final class LivezWatch: Sendable {
  struct Answers: Sendable {
    fileprivate var milliseconds: [Int64] = []
    fileprivate(set) var missing = 0
    fileprivate var isStopped = false
    fileprivate var isOver = false

    var count: Int { milliseconds.count }
    var slowest: Int64 { milliseconds.max() ?? 0 }
    var median: Int64 { milliseconds.isEmpty ? 0 : milliseconds.sorted()[count / 2] }
  }

  private let answers = Locked(Answers())

  init(port: UInt16, secondsMax: Int) {
    Thread.detachNewThread { @Sendable [answers] in
      while !answers.withLock({ $0.isStopped }) {
        let began = MonotonicClock.milliseconds()
        let page = AdminScraper.get("/livez", port: port, secondsMax: secondsMax) ?? Data()
        let took = MonotonicClock.milliseconds() - began
        answers.withLock { answers in
          if page.starts(with: "HTTP/1.1 200".utf8) {
            answers.milliseconds.append(took)
          } else {
            answers.missing += 1
          }
        }
        usleep(100_000)
      }
      answers.withLock { $0.isOver = true }
    }
  }

  func stop() -> Answers {
    answers.withLock { $0.isStopped = true }
    while !answers.withLock({ $0.isOver }) { usleep(10_000) }
    return answers.withLock { $0 }
  }
}
