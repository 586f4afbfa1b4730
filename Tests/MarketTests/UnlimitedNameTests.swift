import Market
import Testing

@Suite struct UnlimitedNameTests {
  private func saysUnlimited(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { NameMarks.sayUnlimited($0) }
  }

  @Test(arguments: ["N科隆", "C科隆", "长航退", "退市海华"])
  func `the name marks a day without limits`(name: String) {
    #expect(saysUnlimited(Array(name.utf8)))
  }

  @Test(arguments: ["贵州茅台", "CNL", "ST海华", "XD粤传", "中国软件", ""])
  func `other names do not`(name: String) {
    #expect(!saysUnlimited(Array(name.utf8)))
  }

  @Test func `the same in GB18030, where only whole characters count`() {
    #expect(saysUnlimited([0xB3, 0xA4, 0xBA, 0xBD, 0xCD, 0xCB]))  // 长航退
    #expect(!saysUnlimited([0xBA, 0xCD, 0xCB, 0xB3]))  // 和顺
  }
}
