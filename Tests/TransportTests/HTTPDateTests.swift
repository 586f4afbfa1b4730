import Testing

@testable import Transport

@Suite struct HTTPDateTests {
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
  ])
  func `a date in any of the three spellings is read`(_ text: String) {
    #expect(HTTPDate.seconds(text) == 784_111_777)
  }

  @Test(arguments: [
    "", " ", "120", "-1", "soon", "5 s", "08:49:37", "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Foo 1994 08:49:37 GMT", "٣",
  ])
  func `anything else is no date`(_ text: String) {
    #expect(HTTPDate.seconds(text) == nil)
  }
}
