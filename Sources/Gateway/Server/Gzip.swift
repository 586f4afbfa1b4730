import CZlib
import NIOCore

/// Compresses answers, on the thread that makes them.
enum Gzip {
  /// A smaller answer is not worth the work.
  static let bytesMin = 1_000

  /// Whether `Accept-Encoding` takes it: by name, or as any.
  static func isTaken(_ acceptEncoding: String) -> Bool {
    var isNamed: Bool?
    var isAny = false
    for entry in acceptEncoding.lowercased().split(separator: ",") {
      let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }
      let isWanted = weight.map { $0.contains { ("1"..."9").contains($0) } } ?? true
      switch parts.first {
      case "gzip", "x-gzip": isNamed = isWanted
      case "*": isAny = isWanted
      default: break
      }
    }
    return isNamed ?? isAny
  }

  static func compress(_ bytes: ByteBuffer) -> ByteBuffer {
    var stream = z_stream()
    let begun = czlib_gzip_begin(&stream)
    precondition(begun == Z_OK, "zlib has no memory")
    defer { deflateEnd(&stream) }
    var output = ByteBuffer()
    let bound = Int(deflateBound(&stream, UInt(bytes.readableBytes)))
    output.writeWithUnsafeMutableBytes(minimumWritableBytes: bound) { target in
      bytes.withUnsafeReadableBytes { source in
        // It only reads.
        stream.next_in = UnsafeMutableRawPointer(mutating: source.baseAddress)?
          .assumingMemoryBound(to: UInt8.self)
        stream.avail_in = UInt32(source.count)
        stream.next_out = target.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.avail_out = UInt32(target.count)
        let ended = deflate(&stream, Z_FINISH)
        precondition(ended == Z_STREAM_END, "the bound of zlib's output is none")
      }
      return Int(stream.total_out)
    }
    return output
  }
}
