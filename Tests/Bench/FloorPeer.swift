/// The least that fan-out can cost: one thread, one `send()` of a frame that is ready to each
/// socket in turn. System calls over plain memory, as in C: nothing in the loop is counted,
/// retained or checked.

import Glibc
import Platform

enum FloorPeer {
  /// Frames of the gateway's messages and of the floor's are of the same form.
  private static let head = Array("{\"type\":\"stock-prices\",\"seq\":1".utf8)

  static func run() throws {
    let (listener, port) = try BenchSocket.listen()
    PeerServer.answer(Int64(port))
    var sockets: [Int32] = []
    while let order = readLine() {
      let words = order.split(separator: " ")
      let number = Int(words.last ?? "") ?? 0
      if words.first == "accept" {
        while sockets.count < number {
          let socket = accept(listener, nil, nil)
          guard socket >= 0 else { throw BenchFailure(description: "cannot accept") }
          sockets.append(socket)
        }
        PeerServer.answer(0)
      } else {
        let frame = frame(bytes: number)
        PeerServer.answer(send(frame, to: sockets))
      }
    }
  }

  /// - Returns: when it began.
  private static func send(_ frame: [UInt8], to sockets: [Int32]) -> Int64 {
    let begin = MonotonicClock.nanoseconds()
    sockets.withUnsafeBufferPointer { sockets in
      frame.withUnsafeBytes { frame in
        for index in 0..<sockets.count {
          _ = Glibc.send(
            sockets[index], frame.baseAddress, frame.count, Int32(MSG_NOSIGNAL))
        }
      }
    }
    return begin
  }

  /// - Parameter bytes: of all of it, its header too; at most 64 KiB.
  private static func frame(bytes: Int) -> [UInt8] {
    let length = max(bytes - 4, head.count)
    let padding = [UInt8](repeating: UInt8(ascii: "x"), count: length - head.count)
    return [0x81, 126, UInt8(length >> 8), UInt8(length & 255)] + head + padding
  }
}
