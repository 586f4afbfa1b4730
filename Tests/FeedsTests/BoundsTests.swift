import Feeds
import Glibc
import TestSupport
import Testing

/// Bodies that end where readable memory ends: one byte read behind them kills the process.
@Suite struct BoundsTests {
  private static let pageBytes = 4096
  private static let areaBytes = 16 * pageBytes

  /// A source's decoder, with lines made for it and what its lines may end in.
  struct Dialect: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let decode: @Sendable (UnsafeRawBufferPointer, inout Recorder) -> Void
    let body: @Sendable (_ lines: Int, UInt64) -> [UInt8]
    let junk: [UInt8]
  }

  private static let dialects = [
    Dialect(
      testDescription: "sina",
      decode: { bytes, recorder in
        var decoder = SinaQuoteDecoder()
        _ = decoder.decode(bytes, status: 200, into: &recorder)
      },
      body: { lines, seed in
        var sweep = SinaSweep(seed: seed)
        return sweep.body(lines: lines)
      }, junk: Array(",,,000...|\"".utf8)),
    Dialect(
      testDescription: "tencent",
      decode: { bytes, recorder in
        var decoder = TencentQuoteDecoder()
        _ = decoder.decode(bytes, status: 200, into: &recorder)
      },
      body: { lines, seed in
        var sweep = TencentSweep(seed: seed)
        return (0..<lines).flatMap { sweep.row($0).line }
      },
      // Bytes that begin a character of two among them.
      junk: Array("~~~000...|/\"v_sh=".utf8) + [0x81, 0xB0, 0xFE]),
  ]

  /// Decodes a copy of `body` that ends at a page nobody may read.
  private func beforeGuardPage(
    _ body: [UInt8], _ area: UnsafeMutableRawPointer, _ dialect: Dialect
  ) {
    let start = area + (BoundsTests.areaBytes - body.count)
    body.withUnsafeBytes {
      start.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(area), byteCount: body.count)
    }
    var recorder = Recorder()
    dialect.decode(UnsafeRawBufferPointer(start: start, count: body.count), &recorder)
  }

  private func withGuardedArea(_ work: (UnsafeMutableRawPointer) -> Void) throws {
    let total = BoundsTests.areaBytes + BoundsTests.pageBytes
    let area = try #require(
      mmap(nil, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    defer { munmap(area, total) }
    try #require(area != MAP_FAILED)
    try #require(mprotect(area + BoundsTests.areaBytes, BoundsTests.pageBytes, PROT_NONE) == 0)
    work(area)
  }

  @Test(arguments: dialects, 1...3 as ClosedRange<UInt64>)
  func `nothing behind a body is read wherever it is cut`(
    _ dialect: Dialect, _ seed: UInt64
  ) throws {
    let body = dialect.body(6, seed)
    try withGuardedArea { area in
      for cut in 0...body.count { beforeGuardPage(Array(body.prefix(cut)), area, dialect) }
    }
  }

  @Test(arguments: dialects, 1...3 as ClosedRange<UInt64>)
  func `nothing behind a body is read when its end is garbage`(
    _ dialect: Dialect, _ seed: UInt64
  ) throws {
    var random = SplitMix(seed: seed)
    let line = dialect.body(1, seed)
    try withGuardedArea { area in
      for _ in 0..<2000 {
        let kept = Int.random(in: 21...line.count, using: &random)
        let count = Int.random(in: 0...1200, using: &random)
        let junk = (0..<count).map { _ in dialect.junk.randomElement(using: &random) ?? 0 }
        beforeGuardPage(line + line.prefix(kept) + junk, area, dialect)
      }
    }
  }
}
