import Feeds
import Market
import Testing

@Suite struct `What a source counts on` {
  @Test(arguments: CheckedWorld.Moment.allCases)
  func `holds of a sound service at any time`(moment: CheckedWorld.Moment) {
    for source in SourceRegistry.all {
      let checkRun = CheckedWorld.shared.checkRun(of: source.name, at: moment)
      let broken = checkRun.findings.filter(\.verdict.isBroken)
      #expect(broken.isEmpty, "\(source.name): \(broken.map { "\($0.name) \($0.verdict)" })")
    }
  }

  @Test(arguments: [
    (CheckedWorld.Moment.session, []), (.lunch, ["quotes.clock", "quotes.step"]),
    (.evening, ["quotes.clock", "quotes.step"]), (.saturday, ["quotes.clock", "quotes.step"]),
  ])
  func `is not tried where the market is closed`(
    moment: CheckedWorld.Moment, untried: [String]
  ) {
    let checkRun = CheckedWorld.shared.checkRun(of: "sina", at: moment)
    #expect(checkRun.names(\.isUntried) == untried)
    let reasons = Set(checkRun.findings.filter(\.verdict.isUntried).map(\.verdict.detail))
    #expect(reasons.isSubset(of: ["the market is not in a session"]))
  }

  @Test(arguments: BrokenCheck.all)
  func `is found where it is broken`(check: BrokenCheck) {
    let checkRun = CheckedWorld.shared.checkRun(
      of: check.source, at: check.moment, rewriting: check.rewrite)
    let found = checkRun.findings.filter(\.verdict.isBroken)
    #expect(
      found.map(\.name).contains(check.finding),
      "\(found.map { "\($0.name): \($0.verdict.detail ?? "")" })")
    for finding in found {
      #expect(finding.verdict.detail?.isEmpty == false && !finding.remedy.isEmpty)
    }
  }

  @Test func `is broken on purpose by each check, in more than twenty ways`() {
    #expect(Set(BrokenCheck.all.map(\.change)).count == BrokenCheck.all.count)
    #expect(BrokenCheck.all.count >= 20)
    for source in SourceRegistry.all {
      let ways = Set(BrokenCheck.all.filter { $0.source == source.name }.map(\.finding))
      let names = Set(source.checks.map(\.name))
      #expect(names.subtracting(ways).isEmpty, "\(source.name)")
    }
  }

  @Test func `takes at most 15 requests a source, each once`() {
    for source in SourceRegistry.all {
      let requests = CheckedWorld.shared.checkRun(of: source.name, at: .session).requests
      #expect(requests.count <= 15 && Set(requests).count == requests.count)
      #expect(Set(source.checks.map(\.name)).count == source.checks.count)
    }
  }

  @Test func `ends the requests where a source bans or refuses the key`() {
    let banned = CheckedWorld.shared.checkRun(of: "sina", at: .session) {
      ($0.status, $0.text) = (456, "<html>Client Error</html>")
    }
    #expect(banned.endedBecause != nil && banned.broken == ["quotes.rows"])
    let refused = CheckedWorld.shared.checkRun(of: "alpaca", at: .session) {
      ($0.status, $0.text) = (403, #"{"message":"forbidden."}"#)
    }
    #expect(refused.endedBecause != nil && refused.broken == ["credentials"])
  }

  @Test func `is no response where a request fails`() {
    let sound = CheckedWorld.shared.checkRun(of: "mairui", at: .session)
    var checkRun = CheckRun(sound.context)
    for request in checkRun.requests {
      checkRun.fail(request, because: "the request timed out")
    }
    #expect(
      checkRun.findings.allSatisfy { $0.verdict == .unreachable("the request timed out") })
  }
}

@Suite struct `Two sources of live quotes` {
  private static func findings(
    at moment: CheckedWorld.Moment, _ edit: @escaping @Sendable (inout [String]) -> Void
  ) -> [CheckFinding] {
    let one = CheckedWorld.shared.checkRun(of: "sina", at: moment)
    let other = CheckedWorld.shared.checkRun(of: "sina", at: moment) {
      if case .quotes = $0.query { $0.rewriteFields(edit) }
    }
    return CheckComparison.findings([one, other])
  }

  @Test(arguments: CheckedWorld.Moment.allCases)
  func `agree where both are sound`(moment: CheckedWorld.Moment) {
    let findings = Self.findings(at: moment) { _ in }
    #expect(findings.count == 4 && findings.allSatisfy { $0.verdict == .holds }, "\(findings)")
  }

  @Test func `agree on lots and shares within what a session may trade meanwhile`() {
    let findings = Self.findings(at: .session) { fields in
      // Of few shares, a lot is more than the decoder lets pass.
      guard let volume = Int(fields[8]), volume > 100_000 else { return }
      fields[8] = String(volume / 100 * 100)
    }
    let broken = findings.filter(\.verdict.isBroken)
    #expect(broken.isEmpty, "\(broken)")
  }

  private static let edits: [(String, @Sendable (inout [String]) -> Void)] = [
    ("agree.previous_close", { $0[2] = "1" + $0[2] }),
    ("agree.open", { if $0[4] != $0[5] { $0[1] = $0[1] == $0[4] ? $0[5] : $0[4] } }),
    ("agree.price", { $0[3] = $0[3] == $0[4] ? $0[5] : $0[4] }),
    (
      "agree.volume",
      { fields in
        guard let volume = Int(fields[8]), let end = fields[9].firstIndex(of: "."),
          let turnover = Int(fields[9][..<end])
        else { return }
        fields[8] = String(volume * 2)
        fields[9] = "\(turnover * 2)" + fields[9][end...]
      }
    ),
  ]

  @Test(arguments: edits.indices)
  func `disagree where one is wrong`(number: Int) {
    let (name, edit) = Self.edits[number]
    let broken = Self.findings(at: .evening, edit).filter(\.verdict.isBroken).map(\.name)
    #expect(broken == [name])
  }
}
