import Glibc
import Testing

@testable import Platform

@Suite struct StartTests {
  @Test func `threads that are to be had are counted, and given back`() {
    #expect(ThreadReserve.available(of: 24) == 24)
    #expect(ThreadReserve.available(of: 0) == 0)
  }

  @Test func `a start that does not come to its first task ends with 75 and says why`() async {
    let result = await #expect(
      processExitsWith: .exitCode(75), observing: [\.standardErrorContent]
    ) {
      StartDeadline.set(seconds: 1)
      while true { pause() }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("candled: not started in time: the system gives no thread"))
  }

  @Test func `a start in time is not ended`() async {
    await #expect(processExitsWith: .exitCode(3)) {
      StartDeadline.set(seconds: 1)
      StartDeadline.met()
      sleep(2)
      exit(3)
    }
  }
}
