import Market
import Testing

@Suite struct QuotedTextTests {
  @Test func `quotation marks and controls are escaped, letters of any script stand`() {
    let text = "a\"\\\n\r\t\u{1}\u{1B}\u{7F}\u{9B}茅".quoted
    #expect(text == #""a\"\\\n\r\t\u0001\u001b\u007f\u009b茅""#)
  }
}
