import Market
import TestSupport
import Testing

@Suite struct SessionTests {
  @Test(arguments: [
    ("09:25:00", 0), ("09:30:00", 0), ("09:30:01", 0), ("09:31:00", 0), ("09:31:01", 1),
    ("11:29:00", 118), ("11:29:01", 119), ("11:30:00", 119), ("11:30:03", 119), ("12:59:59", 119),
    ("13:00:00", 120), ("13:01:00", 120), ("13:01:01", 121), ("14:57:00", 236), ("14:59:00", 238),
    ("14:59:01", 239), ("15:00:00", 239), ("15:00:03", 239), ("15:35:45", 239),
  ])
  func `a minute is open on the left and closed on the right`(_ clock: String, _ minute: Int) {
    #expect(Session.minute(of: second(clock)) == minute)
  }

  @Test func `every trading second lies in the minute that opens before it and closes with it`() {
    let halves = [
      Session.morningOpen + 1...Session.morningClose,
      Session.afternoonOpen + 1...Session.afternoonClose,
    ]
    for second in halves.joined() {
      let minute = Session.minute(of: second)
      #expect(Session.opening(ofMinute: minute) < second)
      #expect(second <= Session.closing(ofMinute: minute))
    }
  }

  @Test func `the minutes fill the session without overlap`() {
    let half = Session.minutesPerDay / 2
    for minute in 1..<Session.minutesPerDay where minute != half {
      #expect(Session.opening(ofMinute: minute) == Session.closing(ofMinute: minute - 1))
    }
    #expect(Session.opening(ofMinute: 0) == Session.morningOpen)
    #expect(Session.closing(ofMinute: half - 1) == Session.morningClose)
    #expect(Session.opening(ofMinute: half) == Session.afternoonOpen)
    #expect(Session.closing(ofMinute: Session.minutesPerDay - 1) == Session.afternoonClose)
  }

  @Test func `trading seconds tick only while the market trades`() {
    var ticked = 0
    for second in 0..<86_400 {
      #expect(Session.tradingSeconds(before: second) == ticked)
      let inMorning = (Session.morningOpen..<Session.morningClose).contains(second)
      let inAfternoon = (Session.afternoonOpen..<Session.afternoonClose).contains(second)
      if inMorning || inAfternoon { ticked += 1 }
    }
    #expect(ticked == Session.secondsPerDay)
  }
}

private func second(_ clock: String) -> Int {
  clock.split(separator: ":").compactMap { Int($0) }.reduce(0) { $0 * 60 + $1 }
}
