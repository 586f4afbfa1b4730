import Testing
import Trials

extension EveryTrial {
  /// The sections of `script/chaos`, short: the same commands with smaller numbers.
  @Suite(.serialized) struct ChaosTests {
    @Test(arguments: ChaosSection.allShort.filter { !$0.needsMount })
    func `a daemon survives`(_ section: ChaosSection) throws {
      try expectPass(section)
    }

    @Test(
      .enabled(if: FullDiskTrial.isPossible, "no file system of our own may be mounted here"),
      arguments: ChaosSection.allShort.filter(\.needsMount))
    func `a daemon survives a disk that is full`(_ section: ChaosSection) throws {
      try expectPass(section)
    }

    private func expectPass(_ section: ChaosSection) throws {
      let seed = UInt64.random(in: 1...1000)
      let report = try SectionRun(section, isShort: true, seed: seed).report()
      #expect(report.passes, "seed \(seed)\n\(report.text)")
      #expect(report.text.contains("PASS \(section.name)"))
    }
  }
}
