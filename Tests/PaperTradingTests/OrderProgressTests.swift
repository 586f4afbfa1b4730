import Market
import PaperTrading
import Testing

@Suite struct OrderProgressTests {
  /// Or where a row was taken out, and more stand before it than is stored.
  @Test(arguments: [
    ("possible=100 ahead=1600", false), ("possible=100 ahead=1599", false),
    ("possible=100 ahead=1500", false), ("possible=100 ahead=1499", true),
    ("possible=100 ahead=0", true), ("possible=100 ahead=1601", true),
    ("possible=200 ahead=1600", true), ("possible=100", true),
  ])
  func `a place is shown anew once a sixteenth of the queue before it has left`(
    _ text: String, _ replaces: Bool
  ) throws {
    let stored = OrderProgress(text: "possible=100 ahead=1600")
    let progress = try #require(OrderProgress(text: text))
    #expect(progress.replaces(stored) == replaces && progress.replaces(nil))
  }
}
