import Market
import Testing

@testable import Ingest

/// Whom to believe when clocks disagree. Elapsed seconds stand for the steady clock.
@Suite struct ClockVerifierTests {
  private let hour: Int64 = 3600 * 1_000_000

  private func at(_ second: Int64) -> Timestamp { Timestamp(seconds: second) }

  private func asked(
    _ verifier: inout ClockVerifier, at second: Int64, dateOff seconds: Int64 = 0
  ) -> (decision: ClockVerifier.Decision, isTakeable: Bool) {
    verifier.answered(
      date: at(second + seconds), askedSteady: at(second), steady: at(second))
  }

  @Test func `a clock that creeps is followed`() {
    var verifier = ClockVerifier(offset: 0, beganAt: at(0))
    let wall = Timestamp(microseconds: 10_300_000)
    #expect(verifier.looked(wall: wall, steady: at(10)) == .unchanged)
    #expect(verifier.offset == 300_000)
  }

  @Test(arguments: [3_600, -3_600, 86_400, -86_400] as [Int64])
  func `a jump the exchange contradicts is refused`(jump: Int64) {
    var verifier = ClockVerifier(offset: 0, beganAt: at(0))
    #expect(verifier.looked(wall: at(10 + jump), steady: at(10)) == .doubted(jump * 1_000_000))
    let result = asked(&verifier, at: 12)
    #expect(result.decision == .refused(jump * 1_000_000) && result.isTakeable)
    #expect(verifier.offset == 0 && verifier.isWallRefused)
    #expect(verifier.looked(wall: at(1_000 + jump), steady: at(1_000)) == .unchanged)
    #expect(verifier.looked(wall: at(2_000), steady: at(2_000)) == .agreed)
    #expect(!verifier.isWallRefused)
  }

  @Test(arguments: [3_600, -3_600, 86_400, -86_400] as [Int64])
  func `a jump the exchange confirms is followed`(jump: Int64) {
    var verifier = ClockVerifier(offset: 0, beganAt: at(0))
    _ = verifier.looked(wall: at(10 + jump), steady: at(10))
    let result = asked(&verifier, at: 12, dateOff: jump)
    #expect(result.decision == .adopted(jump * 1_000_000) && result.isTakeable)
    #expect(verifier.offset == jump * 1_000_000)
  }

  @Test func `a clock jump that nothing confirms or refutes is followed after a while`() {
    var verifier = ClockVerifier(offset: 0, beganAt: at(0))
    _ = verifier.looked(wall: at(3_610), steady: at(10))
    #expect(verifier.looked(wall: at(3_624), steady: at(24)) == .unchanged)
    #expect(verifier.doubtEndsAt == at(25))
    #expect(verifier.looked(wall: at(3_625), steady: at(25)) == .adopted(hour))
    #expect(!verifier.isProven)
  }

  @Test func `until somebody agreed, or nobody answered for a while, time is not trusted`() {
    var verifier = ClockVerifier(offset: 0, beganAt: at(0))
    #expect(!verifier.isTrusted(at: at(14)))
    #expect(verifier.isTrusted(at: at(15)))
    // Put right while nobody has answered: whether it is right now is to be told first.
    _ = verifier.looked(wall: at(3_614), steady: at(14))
    #expect(!verifier.isTrusted(at: at(15)))
    _ = verifier.looked(wall: at(3_629), steady: at(29))
    #expect(verifier.isTrusted(at: at(29)))
    var proven = ClockVerifier(offset: 0, beganAt: at(0))
    _ = asked(&proven, at: 2)
    #expect(proven.isTrusted(at: at(2)))
  }

  @Test func `a jump that is undone in time was none`() {
    var verifier = ClockVerifier(offset: 0, beganAt: at(0))
    _ = verifier.looked(wall: at(3_610), steady: at(10))
    #expect(verifier.looked(wall: at(12), steady: at(12)) == .agreed)
    #expect(verifier.looked(wall: at(40), steady: at(40)) == .unchanged)
  }

  @Test func `time that was wrongly followed is put right before an answer is taken`() {
    var verifier = ClockVerifier(offset: hour, beganAt: at(0))
    let first = asked(&verifier, at: 10)
    #expect(first.decision == .unchanged && !first.isTakeable)
    let second = asked(&verifier, at: 13)
    #expect(second.isTakeable)
    guard case .corrected(let moved) = second.decision else {
      Issue.record("not corrected: \(second.decision)")
      return
    }
    #expect(abs(moved + hour) < 2_000_000)
    // The wall clock still says what it said; that is known by now.
    #expect(verifier.looked(wall: at(3_620), steady: at(20)) == .unchanged)
    #expect(verifier.isWallRefused)
  }

  @Test func `one server with a wrong clock does not move a proven time`() {
    var verifier = ClockVerifier(offset: 0, beganAt: at(0))
    #expect(asked(&verifier, at: 1).isTakeable && verifier.isProven)
    for second in Int64(2)..<60 {
      let isWrong = second % 3 != 0
      let result = asked(&verifier, at: second, dateOff: isWrong ? 7_200 : 0)
      #expect(result.decision == .unchanged && result.isTakeable)
    }
    #expect(verifier.offset == 0)
  }

  @Test func `a machine that was stood still is put right by the exchange`() {
    var verifier = ClockVerifier(offset: 0, beganAt: at(0))
    _ = asked(&verifier, at: 1)
    var corrections = 0
    for second in Int64(2)..<30 {
      if case .corrected = asked(&verifier, at: second, dateOff: 7_200).decision {
        corrections += 1
      }
    }
    #expect(corrections == 1 && abs(verifier.offset - 2 * hour) < 2_000_000)
  }

  @Test func `the date of an answer that waited says nothing`() {
    var verifier = ClockVerifier(offset: 0, beganAt: at(0))
    let result = verifier.answered(date: at(5), askedSteady: at(4), steady: at(604))
    #expect(result.decision == .unchanged && result.isTakeable)
    #expect(!verifier.isProven)
  }
}
