import Testing

@testable import Gateway

/// How a follower keeps its place in its user's outbox.
@Suite struct OutboxCursorTests {
  private static func item(_ number: Int64, isNotice: Bool = false) -> OutboxItem {
    OutboxItem(
      number: number, content: isNotice ? .notification : .nothing,
      json: Array("{\"n\":\(number)}".utf8))
  }

  private static func notices(_ numbers: ClosedRange<Int64>) -> [OutboxItem] {
    numbers.map { item($0, isNotice: true) }
  }

  private static func following(after number: Int64) -> OutboxCursor {
    var cursor = OutboxCursor()
    cursor.follow([.notifications], after: number)
    let read = cursor.nextRead()
    let isThere = cursor.receive(OutboxPage(last: number))
    let next = cursor.nextRead()
    #expect(read == number && isThere && next == nil)
    return cursor
  }

  private static func taken(from cursor: inout OutboxCursor) -> [Int64] {
    cursor.take()?.items.map(\.number) ?? []
  }

  @Test func `what comes in order is sent once, and what is not followed counts`() {
    var cursor = Self.following(after: 7)
    cursor.receive(Self.notices(7...8) + [Self.item(9)] + Self.notices(10...10))
    let taken = [Self.taken(from: &cursor), Self.taken(from: &cursor)]
    let read = cursor.nextRead()
    #expect(taken == [[8, 10], []] && cursor.sent == 10 && read == nil)
  }

  @Test func `where a number is missing, all behind the last is read`() {
    var cursor = Self.following(after: 7)
    cursor.receive(Self.notices(9...9))
    let early = Self.taken(from: &cursor)
    let first = cursor.nextRead()
    #expect(early == [] && first == 7)
    // What comes meanwhile may or may not be in what is read.
    cursor.receive(Self.notices(10...10))
    let isThere = cursor.receive(OutboxPage(items: Self.notices(8...9), last: 9))
    let taken = Self.taken(from: &cursor)
    #expect(isThere && taken == [8, 9])
    let second = cursor.nextRead()
    cursor.readFailed()
    let again = cursor.nextRead()
    #expect(second == 9 && again == 9)
  }

  @Test func `a client that takes nothing has a bounded number wait, and gets the rest later`() {
    var cursor = Self.following(after: 0)
    let most = Int64(StreamLimits.outboxWaitingMax)
    cursor.receive(Self.notices(1...most + 5))
    let early = cursor.nextRead()
    var taken: Int64 = 0
    while let items = cursor.take()?.items { taken += Int64(items.count) }
    let read = cursor.nextRead()
    #expect(early == nil && taken == most && read == most)
  }

  @Test func `an outbox that ends before the client's number is followed from its end`() {
    var cursor = OutboxCursor()
    cursor.follow([.notifications], after: 50)
    let read = cursor.nextRead()
    let isThere = cursor.receive(OutboxPage(last: 3))
    cursor.receive(Self.notices(4...4))
    let taken = Self.taken(from: &cursor)
    #expect(read == 50 && !isThere && taken == [4])
  }

  @Test func `a number of another epoch is followed from the end, and the client learns it`() {
    var cursor = OutboxCursor()
    cursor.follow([.notifications], after: 2, in: 0)
    let read = cursor.nextRead()
    let isThere = cursor.receive(OutboxPage(items: Self.notices(3...9), last: 9, epoch: 7))
    cursor.receive([OutboxItem(number: 10, epoch: 7, content: .notification, json: [])])
    let taken = Self.taken(from: &cursor)
    #expect(read == 2 && !isThere && taken == [10] && cursor.epoch == 7)
  }

  @Test func `who ends all channels gets nothing more`() {
    var cursor = Self.following(after: 0)
    cursor.receive(Self.notices(1...2))
    cursor.end([.notifications])
    cursor.receive(Self.notices(3...3))
    let taken = Self.taken(from: &cursor)
    let read = cursor.nextRead()
    #expect(taken == [] && read == nil && cursor.sent == nil)
  }
}
