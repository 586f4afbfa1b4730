import Market
import TestSupport
import Testing

@testable import Journal

@Suite struct JournalHeadTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func heads(since moment: Timestamp) throws -> [JournalHead] {
    var heads: [JournalHead] = []
    try JournalReader.heads(in: folder.path, since: moment) { heads.append($0) }
    return heads
  }

  private func control(_ text: String, at moment: Timestamp) -> JournalEntry {
    JournalEntry(
      kind: .control, source: .sina, key: "cooldown", requestedAt: moment, receivedAt: moment,
      status: 0, request: Array(text.utf8), body: [])
  }

  @Test func `heads are those of the entries, and a control entry has its text`() throws {
    let writer = try JournalWriter(directory: folder.path)
    let long = String(repeating: "a long text ", count: 20)
    let entries =
      assortment() + [
        control("banned", at: morning), control(long, at: morning), control(long, at: morning),
      ]
    for entry in entries { try writer.append(entry) }
    let heads = try heads(since: morning)
    #expect(heads.count == entries.count)
    for (head, entry) in zip(heads, entries) {
      #expect(head.kind == entry.kind && head.source == entry.source && head.key == entry.key)
      #expect(head.receivedAt == entry.receivedAt)
      #expect(head.request == (entry.kind == .response ? nil : entry.request))
    }
  }

  @Test func `only entries received since the moment are among them, whatever segment they are in`()
    throws
  {
    var options = JournalOptions()
    options.segmentBytes = 300
    let writer = try JournalWriter(directory: folder.path, options: options)
    for second: Int64 in 0..<40 {
      try writer.append(control("\(second)", at: morning.adding(seconds: second)))
    }
    #expect(folder.segmentNames.count > 5)
    for second: Int64 in [0, 1, 13, 38, 39, 40] {
      let texts = try heads(since: morning.adding(seconds: second))
        .compactMap { $0.request.map { String(decoding: $0, as: UTF8.self) } }
      #expect(texts == (second..<40).map { "\($0)" })
    }
  }

  @Test func `what is damaged is left out, and the segments behind it are read`() throws {
    var options = JournalOptions()
    options.segmentBytes = 300
    let writer = try JournalWriter(directory: folder.path, options: options)
    for second: Int64 in 0..<40 {
      try writer.append(control("\(second)", at: morning.adding(seconds: second)))
    }
    let name = folder.segmentNames[2]
    var bytes = try folder.bytes(of: name)
    bytes[bytes.count / 2] ^= 1
    folder.write(bytes, to: name)
    let heads = try heads(since: morning)
    #expect(heads.count < 40 && heads.count > 30)
    #expect(heads.last?.request == Array("39".utf8))
  }

  @Test func `there are none where there is no journal`() throws {
    #expect(try heads(since: morning).isEmpty)
  }
}
