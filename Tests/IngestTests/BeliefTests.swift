import Feeds
import Market
import Testing

@Suite struct `What a source counts on` {
  @Test(arguments: ExaminedWorld.Moment.allCases)
  func `holds of a sound service at any time`(moment: ExaminedWorld.Moment) {
    for source in SourceRegistry.all {
      let examination = ExaminedWorld.shared.examination(of: source.name, at: moment)
      let broken = examination.findings.filter(\.verdict.isBroken)
      #expect(broken.isEmpty, "\(source.name): \(broken.map { "\($0.name) \($0.verdict)" })")
    }
  }

  @Test(arguments: [
    (ExaminedWorld.Moment.session, []), (.lunch, ["quotes.clock", "quotes.step"]),
    (.evening, ["quotes.clock", "quotes.step"]), (.saturday, ["quotes.clock", "quotes.step"]),
  ])
  func `is not tried where the market is closed`(
    moment: ExaminedWorld.Moment, untried: [String]
  ) {
    let examination = ExaminedWorld.shared.examination(of: "sina", at: moment)
    #expect(examination.names(\.isUntried) == untried)
    let reasons = Set(examination.findings.filter(\.verdict.isUntried).map(\.verdict.detail))
    #expect(reasons.isSubset(of: ["the market is not in a session"]))
  }

  @Test(arguments: BrokenBelief.all)
  func `is found where it is broken`(belief: BrokenBelief) {
    let examination = ExaminedWorld.shared.examination(
      of: belief.source, at: belief.moment, rewriting: belief.rewrite)
    let found = examination.findings.filter(\.verdict.isBroken)
    #expect(
      found.map(\.name).contains(belief.finding),
      "\(found.map { "\($0.name): \($0.verdict.detail ?? "")" })")
    for finding in found {
      #expect(finding.verdict.detail?.isEmpty == false && !finding.remedy.isEmpty)
    }
  }

  @Test func `is broken on purpose by each check, in more than twenty ways`() {
    #expect(Set(BrokenBelief.all.map(\.change)).count == BrokenBelief.all.count)
    #expect(BrokenBelief.all.count >= 20)
    for source in SourceRegistry.all {
      let ways = Set(BrokenBelief.all.filter { $0.source == source.name }.map(\.finding))
      let names = Set(source.beliefs.map(\.name))
      #expect(names.subtracting(ways).isEmpty, "\(source.name)")
    }
  }

  @Test func `takes at most 15 requests a source, each once`() {
    for source in SourceRegistry.all {
      let requests = ExaminedWorld.shared.examination(of: source.name, at: .session).requests
      #expect(requests.count <= 15 && Set(requests).count == requests.count)
      #expect(Set(source.beliefs.map(\.name)).count == source.beliefs.count)
    }
  }

  @Test func `ends the requests where a source bans or refuses the key`() {
    let banned = ExaminedWorld.shared.examination(of: "sina", at: .session) {
      ($0.status, $0.text) = (456, "<html>Client Error</html>")
    }
    #expect(banned.endedBecause != nil && banned.broken == ["quotes.rows"])
    let refused = ExaminedWorld.shared.examination(of: "alpaca", at: .session) {
      ($0.status, $0.text) = (403, #"{"message":"forbidden."}"#)
    }
    #expect(refused.endedBecause != nil && refused.broken == ["credentials"])
  }

  @Test func `is no response where a request fails`() {
    let sound = ExaminedWorld.shared.examination(of: "mairui", at: .session)
    var examination = Examination(sound.context)
    for request in examination.requests {
      examination.fail(request, because: "the request timed out")
    }
    #expect(
      examination.findings.allSatisfy { $0.verdict == .unreachable("the request timed out") })
  }
}

@Suite struct `Two sources of live quotes` {
  private static func findings(
    at moment: ExaminedWorld.Moment, _ edit: @escaping @Sendable (inout [String]) -> Void
  ) -> [BeliefFinding] {
    let one = ExaminedWorld.shared.examination(of: "sina", at: moment)
    let other = ExaminedWorld.shared.examination(of: "sina", at: moment) {
      if case .quotes = $0.query { $0.rewriteFields(edit) }
    }
    return BeliefComparison.findings([one, other])
  }

  @Test(arguments: ExaminedWorld.Moment.allCases)
  func `agree where both are sound`(moment: ExaminedWorld.Moment) {
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
