import Platform
import Testing

@Suite struct LatchTests {
  @Test func `the first value reaches who waits last, and who comes after it`() {
    let latch = Latch<Int>()
    let received = Locked<[String]>([])
    latch.whenSet { value in received.withLock { $0.append("replaced \(value)") } }
    latch.whenSet { value in received.withLock { $0.append("waiting \(value)") } }
    #expect(!latch.isSet)
    latch.set(1)
    latch.set(2)
    #expect(latch.isSet)
    latch.whenSet { value in received.withLock { $0.append("late \(value)") } }
    #expect(received.withLock { $0 } == ["waiting 1", "late 1"])
  }

  @Test func `a key is new once, and only so many are`() {
    var once = Once<Int>()
    #expect(once.isEmpty)
    let isNew = (0..<20).map { once.isNew($0 / 2) }
    #expect(isNew.prefix(4) == [true, false, true, false])
    #expect(isNew.count { $0 } == 8 && !once.isEmpty)
  }
}
