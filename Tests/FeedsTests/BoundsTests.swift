import Feeds
import Glibc
import TestSupport
import Testing

/// Bodies that end where readable memory ends: one byte read behind them kills the process.
@Suite struct BoundsTests {
  private static let pageBytes = 4096
  private static let areaBytes = 16 * pageBytes

  /// Calls `work` with a copy of `body` that ends at a page nobody may read.
  private func beforeGuardPage(_ body: [UInt8], _ area: UnsafeMutableRawPointer) {
    let start = area + (BoundsTests.areaBytes - body.count)
    body.withUnsafeBytes {
      start.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(area), byteCount: body.count)
    }
    var decoder = SinaQuoteDecoder()
    var recorder = Recorder()
    let bytes = UnsafeRawBufferPointer(start: start, count: body.count)
    _ = decoder.decode(bytes, status: 200, into: &recorder)
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

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `nothing behind a body is read wherever it is cut`(_ seed: UInt64) throws {
    var sweep = SinaSweep(seed: seed)
    let body = sweep.body(lines: 6)
    try withGuardedArea { area in
      for cut in 0...body.count { beforeGuardPage(Array(body.prefix(cut)), area) }
    }
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `nothing behind a body is read when its end is garbage`(_ seed: UInt64) throws {
    var sweep = SinaSweep(seed: seed)
    var random = SplitMix(seed: seed)
    let alphabet = Array(",,,000...|\"".utf8)
    let line = sweep.body(lines: 1)
    try withGuardedArea { area in
      for _ in 0..<2000 {
        let kept = Int.random(in: 21...line.count, using: &random)
        let count = Int.random(in: 0...1200, using: &random)
        let junk = (0..<count).map { _ in alphabet.randomElement(using: &random) ?? 0 }
        beforeGuardPage(line + line.prefix(kept) + junk, area)
      }
    }
  }
}
