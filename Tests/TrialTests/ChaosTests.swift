import Testing
import Trials

extension EveryTrial {
  /// The sections of `script/chaos`, short: the same commands with smaller numbers, in two chains.
  @Suite enum ChaosTests {
    @Suite(.serialized) struct FirstChain {
      @Test(arguments: ChaosTests.chain(0))
      func `a daemon survives`(_ section: ChaosSection) throws {
        try ChaosTests.expectPass(section)
      }
    }

    @Suite(.serialized) struct SecondChain {
      @Test(arguments: ChaosTests.chain(1))
      func `a daemon survives`(_ section: ChaosSection) throws {
        try ChaosTests.expectPass(section)
      }

      @Test(
        .enabled(if: FullDiskTrial.isPossible, "no file system of our own may be mounted here"),
        arguments: ChaosSection.allShort.filter(\.needsMount))
      func `a daemon survives a disk that is full`(_ section: ChaosSection) throws {
        try ChaosTests.expectPass(section)
      }
    }

    /// Every second section, so that the long ones are in both.
    static func chain(_ first: Int) -> [ChaosSection] {
      let sections = ChaosSection.allShort.filter { !$0.needsMount }
      return stride(from: first, to: sections.count, by: 2).map { sections[$0] }
    }

    static func expectPass(_ section: ChaosSection) throws {
      let seed = UInt64.random(in: 1...1000)
      let report = try SectionRun(section, isShort: true, seed: seed).report()
      #expect(report.passes, "seed \(seed)\n\(report.text)")
      #expect(report.text.contains("PASS \(section.name)"))
    }
  }
}
