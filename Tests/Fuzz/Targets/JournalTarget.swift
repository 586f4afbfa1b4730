import Glibc
import Market

@testable import Journal

/// The bytes of a segment, read as they are and once more with every checksum made right: random
/// bytes never pass a checksum, and what stands behind one must be safe too.
enum JournalTarget {
  private static let folder: String = {
    var template = Array("/dev/shm/candled-fuzz-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else { fatalError("no folder in /dev/shm") }
    return String(cString: made)
  }()
  private static let path = folder + "/" + JournalSegment.name(first: 1)

  static func take(_ bytes: UnsafeRawBufferPointer) {
    read(Array(bytes))
    read(sealed(bytes))
  }

  private static func read(_ segment: [UInt8]) {
    write(segment)
    var position: Int64 = 0
    do throws(JournalError) {
      let reader = try JournalReader(directory: folder)
      while let (next, entry) = try reader.next() {
        guard next.sequence == position + 1 else { fatalError("\(next) after \(position)") }
        position = next.sequence
        check(entry)
      }
    } catch {
      guard !"\(error)".isEmpty else { fatalError("an error without a sentence") }
    }
  }

  private static func check(_ entry: JournalEntry) {
    guard entry.request.count + entry.body.count <= EntryLimits.payloadBytesMax,
      entry.key.utf8.count <= 3 * EntryLimits.keyBytesMax
    else { fatalError("an entry larger than any") }
  }

  /// The same frames, cut where their lengths say, each with the checksums it should have.
  private static func sealed(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
    var segment = SegmentHeader(firstSequence: 1).encoded
    var link = SegmentHeader(firstSequence: 1).checksum
    var offset = SegmentHeader.byteCount
    var sequence: Int64 = 1
    while offset + FrameHeader.byteCount + EntryMeta.byteCount <= bytes.count {
      let room = bytes.count - offset - FrameHeader.byteCount
      let declaredLength = Int(bytes.integer(at: offset + 16, as: UInt32.self))
      let count = min(max(declaredLength, EntryMeta.byteCount), room)
      let end = offset + FrameHeader.byteCount + count
      var frame = Array(bytes[offset..<end])
      link = frame.withUnsafeMutableBytes {
        FrameHeader.seal($0, sequence: sequence, previous: link)
      }
      segment += frame
      sequence += 1
      offset = end
    }
    return segment
  }

  private static func write(_ bytes: [UInt8]) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0, Glibc.write(file, bytes, bytes.count) == bytes.count else {
      fatalError("cannot write \(path)")
    }
    close(file)
  }

  /// A segment with an entry of each packing, written by the writer itself.
  static var seeds: [[UInt8]] {
    let lines = (0..<12).map { "var hq_str_sh60000\($0)=\"x,1.\($0),2.\($0)\";\n" }.joined()
    let bodies = [lines, lines, lines + "more", "", lines + "less", "09:31"]
    do throws(JournalError) {
      let writer = try JournalWriter(directory: folder)
      for (number, body) in bodies.enumerated() {
        let moment = Timestamp(seconds: 1_783_301_400 + Int64(number))
        _ = try writer.append(
          JournalEntry(
            kind: number == 5 ? .timer : .response, source: .live, key: "quotes/0",
            requestedAt: moment, receivedAt: moment, status: 200,
            request: Array("sh000001,sh600519".utf8), body: Array(body.utf8)))
      }
      try writer.sync()
    } catch {
      fatalError("\(error)")
    }
    guard let file = fopen(path, "re") else { fatalError("no \(path)") }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return [Array(bytes.prefix(count))]
  }
}
