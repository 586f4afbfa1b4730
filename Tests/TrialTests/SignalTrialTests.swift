import Foundation
import Testing
import Trials

@Suite struct SignalTrialTests {
  @Test func `the trial starts the daemon as the unit does`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let unit = try String(
      contentsOf: root.appending(path: "systemd/candled.service"), encoding: .utf8)
    let start = SignalTrial.unitPrefix.joined(separator: " ") + " /usr/bin/candled run"
    #expect(unit.split(separator: "\n").contains { $0 == "ExecStart=\(start)" })
  }
}
