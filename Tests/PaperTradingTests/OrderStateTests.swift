import Market
import PaperTrading
import Testing

/// The states of an order.
@Suite struct OrderStateTests {
  @Test func `the terminal states are those in which nothing can be filled`() {
    #expect(
      OrderState.allCases.filter(\.isTerminal)
        == [.filled, .cancelled, .expired, .rejected, .replaced])
  }

  @Test func `each state is one of the three of the documents`() {
    #expect(
      OrderState.allCases.map(\.status.rawValue) == [
        "OPEN", "OPEN", "OPEN", "OPEN", "OPEN", "EXECUTED", "CANCELED", "CANCELED", "CANCELED",
        "CANCELED",
      ])
  }

  @Test func `names are those of the database and never two alike`() {
    #expect(Set(OrderState.allCases.map(\.name)).count == OrderState.allCases.count)
    #expect(Set(OrderKind.allCases.map(\.name)).count == OrderKind.allCases.count)
    #expect(Set(FillBasis.allCases.map(\.name)).count == FillBasis.allCases.count)
  }
}
