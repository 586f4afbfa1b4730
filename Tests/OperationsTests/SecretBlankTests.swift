import Operations
import Testing

@Suite struct `Secrets in a body` {
  private func blanked(_ text: String, _ secret: String) -> String {
    let mask = SecretMask()
    mask.register(Secret(secret))
    var body = Array(text.utf8)
    mask.blank(&body)
    return String(decoding: body, as: UTF8.self)
  }

  @Test func `are overwritten byte for byte, in every form`() {
    #expect(
      blanked("GET /a/b%2Bc-12345 b+c-12345b+c-12345", "b+c-12345")
        == "GET /a/*********** ******************")
  }

  @Test func `are left alone where they are as short as data`() {
    #expect(blanked("[1234567,1234567]", "1234567") == "[1234567,1234567]")
  }

  @Test func `need not be there`() {
    #expect(blanked("", "b+c-12345") == "" && blanked("b+c-1234", "b+c-12345") == "b+c-1234")
  }
}
