import Foundation
import Glibc
import Market
import TestSupport
import Testing

@testable import Journal

/// A folder of its own for each test, removed with everything in it.
final class TemporaryFolder {
  let path: String

  init() throws {
    // In memory where there is such a folder: some tests open a journal thousands of times, and
    // each open syncs.
    let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
    var template = Array("\(parent)/candled-journal-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else {
      throw JournalError.systemCall("make a temporary folder", number: errno)
    }
    path = String(cString: made)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func empty() {
    for name in names { unlink(path + "/" + name) }
  }

  var names: [String] {
    guard let stream = opendir(path) else { return [] }
    defer { closedir(stream) }
    var found: [String] = []
    while let item = readdir(stream) {
      let name = withUnsafeBytes(of: &item.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { found.append(name) }
    }
    return found.sorted()
  }

  var segmentNames: [String] { names.filter { $0.hasSuffix(".candled") } }

  func bytes(of name: String) throws -> [UInt8] {
    let file = Descriptor(open(path + "/" + name, O_RDONLY))
    var bytes = [UInt8](repeating: 0, count: Int(lseek(file.number, 0, SEEK_END)))
    #expect(pread(file.number, &bytes, bytes.count, 0) == bytes.count)
    return bytes
  }

  func write(_ bytes: [UInt8], to name: String) {
    let file = Descriptor(open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC, 0o600))
    #expect(pwrite(file.number, bytes, bytes.count, 0) == bytes.count)
  }
}

let morning = Timestamp(seconds: 1_783_301_400)  // 2026-07-06T09:30:00+08:00

func response(
  _ body: String, key: String = "quotes/0", at moment: Timestamp = morning, status: Int32 = 200
) -> JournalEntry {
  JournalEntry(
    kind: .response, source: .sina, key: key, requestedAt: moment.adding(milliseconds: -80),
    receivedAt: moment, status: status, request: Array("sh000001,sh600519".utf8),
    body: Array(body.utf8))
}

func timer(_ body: String, at moment: Timestamp = morning) -> JournalEntry {
  JournalEntry(
    kind: .timer, source: .sina, key: "close", requestedAt: moment, receivedAt: moment, status: 0,
    request: [], body: Array(body.utf8))
}

/// Entries of every kind and packing: plain, compressed, difference, same.
func assortment() -> [JournalEntry] {
  let lines = (0..<12).map { "var hq_str_sh60000\($0)=\"x,1.\($0),2.\($0)\";\n" }.joined()
  return [
    response(lines), timer("09:31"), response(lines), response(lines + "more"),
    response("", status: 456), response(lines, key: "quotes/1"), timer(""),
    response(lines + "less", at: morning.adding(seconds: 3)),
  ]
}

extension JournalReader {
  func all() throws -> [JournalEntry] {
    var entries: [JournalEntry] = []
    while let (_, entry) = try next() { entries.append(entry) }
    return entries
  }
}

/// A sweep's batch: one line an instrument, of which `change` renews some.
struct Batch {
  private var lines: [String]
  private var generator: SplitMix

  init(lines count: Int, seed: UInt64) {
    generator = SplitMix(seed: seed)
    lines = []
    lines = (0..<count).map { index in line(index) }
  }

  var body: [UInt8] { Array(lines.joined().utf8) }

  mutating func change(perMille: Int) {
    for index in lines.indices where Int.random(in: 0..<1000, using: &generator) < perMille {
      lines[index] = line(index)
    }
  }

  private mutating func line(_ index: Int) -> String {
    let price = Int.random(in: 1000..<1200, using: &generator)
    var fields = ["name\(index)", "10.310", "10.280", "\(price / 100).\(price % 100)0"]
    for level in 0..<10 {
      let volume = Int.random(in: 1..<9000, using: &generator) * 100
      fields += ["\(volume)", "\((price + level) / 100).\((price + level) % 100)0"]
    }
    let volume = Int.random(in: 1_000_000..<90_000_000, using: &generator)
    fields += ["\(volume)", "\(volume * 10).00", "2026-07-06", "09:31:03", "00"]
    return "var hq_str_sz\(300_000 + index)=\"\(fields.joined(separator: ","))\";\n"
  }
}
