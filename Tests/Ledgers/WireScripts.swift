import ExchangeSimulator
import TestExchange

/// What dishonest servers send: heads that lie, bodies that never end, silence in the wrong place.
extension WireScript {
  private static func text(_ text: String) -> Step { .send(Array(text.utf8)) }

  private static let ok = "HTTP/1.1 200 OK\r\nContent-Type: application/javascript\r\n"

  /// A body that is promised and comes a byte a second.
  package static let slowLoris = WireScript([
    text(ok + "Content-Length: 100000\r\n\r\n"),
    .trickle([UInt8](repeating: 0x20, count: 100_000), everyMilliseconds: 1_000),
  ])

  /// The same with the head: not even a status line in a minute.
  package static let slowHead = WireScript([
    .trickle(Array((ok + "\r\n").utf8), everyMilliseconds: 1_000)
  ])

  package static let endlessHead = WireScript([
    text(ok), .sendEndlessly(Array("X-Filler: 0123456789abcdef0123456789abcdef\r\n".utf8)),
  ])

  /// Chunk after chunk of blanks.
  package static let endlessChunks = WireScript([
    text(ok + "Transfer-Encoding: chunked\r\n\r\n"),
    .sendEndlessly(
      Array("1000\r\n".utf8) + [UInt8](repeating: 0x20, count: 0x1000) + Array("\r\n".utf8)),
  ])

  /// Half a body, and a reset.
  package static let resetInBody = WireScript([
    text(ok + "Content-Length: 100000\r\n\r\nvar hq_str_sh"), .reset,
  ])

  /// The head of an answer, and then nothing.
  package static let heldBody = WireScript([text(ok + "Content-Length: 100000\r\n\r\n"), .hold])

  /// Fewer bytes are announced than there are.
  package static let lengthTooShort = WireScript([
    text(ok + "Content-Length: 3\r\nConnection: close\r\n\r\nvar hq_str_sh600519=\"\";\n")
  ])

  package static let lengthTooLong = WireScript([
    text(ok + "Content-Length: 100000\r\n\r\nvar hq_str_sh600519=\"\";\n")
  ])

  /// Two lengths that contradict each other.
  package static let twoLengths = WireScript([
    text(ok + "Content-Length: 5\r\nContent-Length: 50\r\nConnection: close\r\n\r\nvar hq_str_sh")
  ])

  package static let lengthThatIsNone = WireScript([
    text(ok + "Content-Length: -1\r\nConnection: close\r\n\r\nvar hq_str_sh")
  ])

  /// A whole answer of the protocol of 1996, its end told by the close alone.
  package static let oldProtocol = WireScript([
    text("HTTP/1.0 200 OK\r\nContent-Type: application/javascript\r\n\r\n"), .sendBody,
  ])

  /// A whole answer whose headers come twice.
  package static let duplicateHeaders = WireScript([
    text(ok + ok.dropFirst(17) + "Date: x\r\nDate: y\r\nConnection: close\r\n\r\n"), .sendBody,
  ])

  package static let notHTTP = WireScript([text("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")])

  /// `packed` unpacks to far more than any answer has.
  package static func bomb(gzip packed: [UInt8]) -> WireScript {
    WireScript([
      text(ok + "Content-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"),
      .send(packed),
    ])
  }
}
