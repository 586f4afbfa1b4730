import Foundation
import Glibc
import Platform
import TestSupport

/// The built gateway in front of a market, and fifteen thousand clients at a time that send heads
/// and bodies which never end, heads and frames that are too large or forbidden, or go abruptly. It
/// answers /livez throughout, ends them all, WebSockets with the code that says why, its memory is
/// bounded, and afterwards it serves.
package struct StormTrial {
  /// Of the daemon; that of the gateway is beside it.
  private let binary: String
  private let connections: Int
  /// Whether heads and bodies that never end are among them.
  package var hasEndless = true

  /// The gateway's patience is two minutes at most; a busy machine takes a while for so many.
  private static let endSecondsMax = 150
  private static let stopSecondsMax = 20
  /// A new connection with its answer, behind a storm on two cores that are shared with it.
  package var answerSecondsMax = 10
  /// 50 MB without a client; a connection has its handlers, a task, and 16 KiB that were read.
  private static let baseMebibytesMax = 96
  private static let connectionBytesMax = 64 << 10
  private static let instruments = 20
  /// Of WebSockets, those that the kernel must not have forgotten before the gateway saw them.
  private static let upgradedPercentMin = 90
  /// Until most connections stand: the kernel tries again after one second.
  private static let settleMicroseconds: useconds_t = 2_000_000
  /// Beside the storm: /livez, the trial's own.
  private static let connectionsMore = 500
  private static let abruptMilliseconds: Int64 = 1_000

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
    let pair = try GatewayPair(
      "storm", binary: binary, gateways: 1, instruments: Self.instruments, seed: 1,
      day: TrialDay.start..<TrialDay.stop,
      limits: ["gateway.connections_max": "\(connections + Self.connectionsMore)"])
    defer { pair.end() }
    try pair.open()
    let (gateway, port) = (pair.gateways[0], pair.ports[0])
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

  private func run(
    _ storm: Storm, against gateway: DaemonProcess, port: UInt16, to verdict: inout ChaosVerdict
  ) throws -> String {
    let clients = StormClients(port: port)
    let watch = AnswerWatch("/livez", port: port, secondsMax: answerSecondsMax)
    let began = MonotonicClock.milliseconds()
    let failed = clients.open(connections)
    if failed > 0 { verdict.complaints.append("\(storm.name): \(failed) were not opened") }
    let opened = MonotonicClock.milliseconds()
    usleep(Self.settleMicroseconds)
    let settled = MonotonicClock.milliseconds()
    var (resident, tally) = (0.0, CloseTally())
    while clients.count > 0,
      MonotonicClock.milliseconds() - opened < Int64(Self.endSecondsMax) * 1_000
    {
      clients.send(storm.bytes)
      usleep(200_000)
      clients.readAll { client in
        if let frames = storm.badFrames(of: client.number) {
          tally.ended(frames, received: client.received)
        }
      }
      if storm.isAbrupt, MonotonicClock.milliseconds() - settled > Self.abruptMilliseconds {
        clients.close(abruptly: true)
      }
      resident = max(resident, ProcessProbe(gateway.pid)?.mebibytes ?? 0)
    }
    let ended = MonotonicClock.milliseconds()
    let answers = watch.stop()
    // Who waits for an upgrade that the gateway never saw was forgotten by the kernel.
    let open = clients.count(where: { storm.frames.isEmpty || !$0.received.isEmpty })
    if open > 0 { verdict.complaints.append("\(storm.name): \(open) are still open") }
    clients.close()
    verdict.complaints += tally.complaints.map { "\(storm.name): \($0)" }
    if !storm.frames.isEmpty, tally.upgraded * 100 < connections * Self.upgradedPercentMin {
      verdict.complaints.append("\(storm.name): only \(tally.upgraded) were upgraded")
    }
    if answers.missing > 0 || answers.count == 0 {
      verdict.complaints.append("\(storm.name): /livez \(answers.missing) times without answer")
    }
    guard gateway.isRunning else {
      throw TrialFailure("\(storm.name): the gateway ended: \(gateway.logTail)")
    }
    let page = AdminScraper.get("/v1/openapi.json", port: port, secondsMax: answerSecondsMax)
    if page?.starts(with: "HTTP/1.1 200".utf8) != true {
      verdict.complaints.append("\(storm.name): not served afterwards")
    }
    let codes =
      storm.frames.isEmpty
      ? "" : " of \(tally.upgraded) upgraded ones \(tally.right) with the right code;"
    return "\(storm.name):\(codes) opened in \(opened - began) ms, all ended after "
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
    let status = gateway.end(secondsMax: Self.stopSecondsMax)
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
  /// In place of `second`.
  var frames: [BadFrames] = []

  /// One more byte every five seconds. The kernel may have forgotten connections that the gateway
  /// never saw, and says so to whoever sends.
  private static let trickleSteps = 25

  func bytes(of client: StormClients.Client) -> [UInt8]? {
    switch client.step {
    case 0: return first[client.number % first.count]
    case 1:
      guard let frames = badFrames(of: client.number) else {
        return second[client.number % second.count]
      }
      // RFC 6455 §4.1: nothing is sent before the answer to the upgrade.
      return client.received.isEmpty ? nil : frames.bytes
    default: return client.step % Self.trickleSteps == 0 ? [UInt8(ascii: "1")] : []
    }
  }

  func badFrames(of number: Int) -> BadFrames? {
    frames.isEmpty ? nil : frames[number % frames.count]
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
  static let all = [
    Storm(name: "heads of 16 KiB", first: [head + long, Array("GET /".utf8) + long]),
    Storm(name: "bad frames", first: [upgrade], frames: BadFrames.all),
    Storm(name: "resets", isAbrupt: true, first: [upgrade, head], second: [[0x81, 0xFE]]),
    Storm(
      name: "heads that never end", isEndless: true, first: [head, [], Array(upgrade.dropLast(2))]),
    Storm(name: "bodies that never end", isEndless: true, first: bodies),
  ]
}
