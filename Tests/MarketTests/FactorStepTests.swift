import Market
import TestSupport
import Testing

/// Steps of adjustment against the exchange's own previous close: published ones, and what a day is
/// worth of which little is known.
@Suite struct FactorStepTests {
  private func judged(
    _ filed: FactorStep.Filed?, _ close: String?, _ previousClose: String?, seen: Bool = true,
    fund: Bool = false
  ) throws -> FactorStep? {
    let evidence = FactorStep.Evidence(
      previousClose: try previousClose.map { try ExactDecimal($0) },
      close: try close.map { try ExactDecimal($0) }, isCloseSeen: seen)
    return FactorStep.judged(
      filed, by: evidence, ofFund: fund, tick: ExactDecimal(units: 1, scale: fund ? 3 : 2))
  }

  private func shares(_ total: String) throws -> FactorStep.Filed {
    .shares(try ExactDecimal(total))
  }

  private func fund(_ cash: String, _ split: String) throws -> FactorStep.Filed {
    .fund(cash: try ExactDecimal(cash), split: try ExactDecimal(split))
  }

  private func text(_ step: FactorStep?) -> String {
    guard let step else { return "nothing" }
    let numbers = [step.total, step.split].map {
      $0?.rounded(places: 6).normalized.description ?? "-"
    }
    let words =
      [step.basis.rawValue, step.verdict.rawValue] + [step.exception?.rawValue].compactMap(\.self)
    return (numbers + words).joined(separator: " ")
  }

  @Test(arguments: [
    // 601009: rights, a bonus with cash, cash with a bonus, cash, cash.
    ("1.061452513966", "11.78", "11.10"), ("1.841189931350", "17.88", "9.71"),
    ("1.430978723404", "12.01", "8.39"), ("1.066355128572", "8.58", "8.05"),
    ("1.016818429982", "12.05", "11.85"),
  ])
  func `a step of Sina's file is what the exchange did`(
    _ total: String, _ close: String, _ previousClose: String
  ) throws {
    let step = try judged(shares(total), close, previousClose)
    #expect(step?.verdict == .proven && step?.basis == .file && step?.split == nil)
    #expect(try step?.total == ExactDecimal(total))
  }

  @Test func `half a tick is rounded as the exchange does`() throws {
    // 8.580 − 0.535 is 8.045, and its ratio has no end.
    #expect(try judged(shares("1.066500932256"), "8.58", "8.05")?.verdict == .proven)
  }

  @Test func `a tick off the exchange prevails, and the exception has a name`() throws {
    // 000002 on 2023-08-25: 13.71 less 0.68 is 13.03.
    #expect(
      try text(judged(shares("1.052187260169"), "13.71", "13.04"))
        == "1.05138 - derived within_a_tick cash_by_holder")
  }

  @Test(arguments: [
    ("10.663551", "8.58", "8.05", "1.065839 - derived contradicted"),
    ("1.066355128572", "8.58", "8.58", "1 1 derived contradicted"),
  ])
  func `a step that the exchange contradicts is not served`(
    _ total: String, _ close: String, _ previousClose: String, _ expected: String
  ) throws {
    #expect(try text(judged(shares(total), close, previousClose)) == expected)
  }

  @Test func `a step that the file lacks is the close over the previous close`() throws {
    #expect(try text(judged(nil, "9.94", "9.89")) == "1.005056 - derived within_a_tick")
    #expect(try text(judged(nil, "9.94", "9.94")) == "nothing")
    #expect(try text(judged(nil, "9.94", "9.89", seen: false)) == "nothing")
  }

  @Test(
    arguments: [
      ("12.01", nil, true, "unrecorded"), (nil, "8.39", false, "first_day"),
      ("12.01", "8.39", false, "close_unseen"),
    ] as [(String?, String?, Bool, String)])
  func `what cannot be tested is served as it is filed, with the reason`(
    _ close: String?, _ previousClose: String?, _ seen: Bool, _ reason: String
  ) throws {
    let step = try judged(shares("1.430978723404"), close, previousClose, seen: seen)
    #expect(text(step) == "1.430979 - file untestable \(reason)")
  }

  @Test func `a fund's cash is a part of its price`() throws {
    // 510050 before 2024-12-02, at an assumed close.
    #expect(
      try text(judged(fund("0.055", "1"), "2.700", "2.645", fund: true))
        == "1.020794 1 file proven")
    #expect(
      try text(judged(fund("0.055", "1"), "2.700", nil, fund: true))
        == "1.020794 1 file untestable unrecorded")
    #expect(
      try text(judged(fund("0.055", "1"), nil, nil, fund: true))
        == "- 1 file untestable unrecorded")
    #expect(
      try text(judged(fund("0.055", "1"), "2.700", "2.700", fund: true))
        == "1.020794 1 file untestable unmoved")
  }

  @Test(arguments: ["2", "0.5"])
  func `prices show which way a fund's split is written`(_ split: String) throws {
    // 159939 on 2023-02-16, at an assumed close.
    #expect(
      try text(judged(fund("0", split), "1.235", "0.618", fund: true)) == "2 2 file proven")
    // Until they do, nobody knows.
    #expect(
      try text(judged(fund("0", split), "1.235", nil, fund: true))
        == "- - file untestable unrecorded")
  }

  @Test func `a fund that was merged`() throws {
    // 510310 on 2024-09-23, at an assumed close.
    let price = "3.602"
    #expect(
      try text(judged(fund("0", "0.49977589"), "1.800", price, fund: true))
        == "0.499776 0.499776 file proven")
    #expect(
      try text(judged(nil, "1.800", price, fund: true))
        == "0.499722 0.499722 derived within_a_tick")
  }

  @Test func `without a file only an exact fraction is a split`() throws {
    func text(_ filed: FactorStep.Filed?, _ previousClose: String) throws -> String {
      self.text(try judged(filed, "5.003", previousClose, fund: true))
    }
    #expect(try text(nil, "1.001") == "4.998002 5 derived within_a_tick")
    // May be cash.
    #expect(try text(nil, "4.503") == "1.111037 - derived within_a_tick")
    #expect(try text(fund("0.100", "2"), "4.503") == "1.111037 - derived contradicted")
  }
}
