import Market
import Testing

@testable import Ingest

/// Whom to believe when clocks disagree. Elapsed seconds stand for the steady clock.
@Suite struct ClockJudgeTests {
  private let hour: Int64 = 3600 * 1_000_000

  private func at(_ second: Int64) -> Timestamp { Timestamp(seconds: second) }

  private func asked(
    _ judge: inout ClockJudge, at second: Int64, dateOff seconds: Int64 = 0
  ) -> (ruling: ClockJudge.Ruling, isTakeable: Bool) {
    judge.answered(
      date: at(second + seconds), askedSteady: at(second), steady: at(second))
  }

  @Test func `a clock that creeps is followed`() {
    var judge = ClockJudge(offset: 0, beganAt: at(0))
    let wall = Timestamp(microseconds: 10_300_000)
    #expect(judge.looked(wall: wall, steady: at(10)) == .unchanged)
    #expect(judge.offset == 300_000)
  }

  @Test(arguments: [3_600, -3_600, 86_400, -86_400] as [Int64])
  func `a jump the exchange contradicts is refused`(jump: Int64) {
    var judge = ClockJudge(offset: 0, beganAt: at(0))
    #expect(judge.looked(wall: at(10 + jump), steady: at(10)) == .doubted(jump * 1_000_000))
    let told = asked(&judge, at: 12)
    #expect(told.ruling == .refused(jump * 1_000_000) && told.isTakeable)
    #expect(judge.offset == 0 && judge.isWallRefused)
    #expect(judge.looked(wall: at(1_000 + jump), steady: at(1_000)) == .unchanged)
    #expect(judge.looked(wall: at(2_000), steady: at(2_000)) == .agreed)
    #expect(!judge.isWallRefused)
  }

  @Test(arguments: [3_600, -3_600, 86_400, -86_400] as [Int64])
  func `a jump the exchange confirms is followed`(jump: Int64) {
    var judge = ClockJudge(offset: 0, beganAt: at(0))
    _ = judge.looked(wall: at(10 + jump), steady: at(10))
    let told = asked(&judge, at: 12, dateOff: jump)
    #expect(told.ruling == .adopted(jump * 1_000_000) && told.isTakeable)
    #expect(judge.offset == jump * 1_000_000)
  }

  @Test func `a jump nobody can judge is followed after a while`() {
    var judge = ClockJudge(offset: 0, beganAt: at(0))
    _ = judge.looked(wall: at(3_610), steady: at(10))
    #expect(judge.looked(wall: at(3_624), steady: at(24)) == .unchanged)
    #expect(judge.doubtEndsAt == at(25))
    #expect(judge.looked(wall: at(3_625), steady: at(25)) == .adopted(hour))
    #expect(!judge.isProven)
  }

  @Test func `until somebody agreed, or nobody answered for a while, time is not trusted`() {
    var judge = ClockJudge(offset: 0, beganAt: at(0))
    #expect(!judge.isTrusted(at: at(14)))
    #expect(judge.isTrusted(at: at(15)))
    // Put right while nobody has answered: whether it is right now is to be told first.
    _ = judge.looked(wall: at(3_614), steady: at(14))
    #expect(!judge.isTrusted(at: at(15)))
    _ = judge.looked(wall: at(3_629), steady: at(29))
    #expect(judge.isTrusted(at: at(29)))
    var proven = ClockJudge(offset: 0, beganAt: at(0))
    _ = asked(&proven, at: 2)
    #expect(proven.isTrusted(at: at(2)))
  }

  @Test func `a jump that is undone in time was none`() {
    var judge = ClockJudge(offset: 0, beganAt: at(0))
    _ = judge.looked(wall: at(3_610), steady: at(10))
    #expect(judge.looked(wall: at(12), steady: at(12)) == .agreed)
    #expect(judge.looked(wall: at(40), steady: at(40)) == .unchanged)
  }

  @Test func `time that was wrongly followed is put right before an answer is taken`() {
    var judge = ClockJudge(offset: hour, beganAt: at(0))
    let first = asked(&judge, at: 10)
    #expect(first.ruling == .unchanged && !first.isTakeable)
    let second = asked(&judge, at: 13)
    #expect(second.isTakeable)
    guard case .corrected(let moved) = second.ruling else {
      Issue.record("not corrected: \(second.ruling)")
      return
    }
    #expect(abs(moved + hour) < 2_000_000)
    // The wall clock still says what it said; that is known by now.
    #expect(judge.looked(wall: at(3_620), steady: at(20)) == .unchanged)
    #expect(judge.isWallRefused)
  }

  @Test func `one server with a wrong clock does not move a proven time`() {
    var judge = ClockJudge(offset: 0, beganAt: at(0))
    #expect(asked(&judge, at: 1).isTakeable && judge.isProven)
    for second in Int64(2)..<60 {
      let isWrong = second % 3 != 0
      let told = asked(&judge, at: second, dateOff: isWrong ? 7_200 : 0)
      #expect(told.ruling == .unchanged && told.isTakeable)
    }
    #expect(judge.offset == 0)
  }

  @Test func `a machine that was stood still is put right by the exchange`() {
    var judge = ClockJudge(offset: 0, beganAt: at(0))
    _ = asked(&judge, at: 1)
    var corrections = 0
    for second in Int64(2)..<30 {
      if case .corrected = asked(&judge, at: second, dateOff: 7_200).ruling { corrections += 1 }
    }
    #expect(corrections == 1 && abs(judge.offset - 2 * hour) < 2_000_000)
  }

  @Test func `the date of an answer that waited says nothing`() {
    var judge = ClockJudge(offset: 0, beganAt: at(0))
    let told = judge.answered(date: at(5), askedSteady: at(4), steady: at(604))
    #expect(told.ruling == .unchanged && told.isTakeable)
    #expect(!judge.isProven)
  }
}
