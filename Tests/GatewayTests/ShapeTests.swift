import Market
import Testing

@testable import Gateway

@Suite struct ShapeTests {
  private struct Trade: Sendable {
    let price: ExactDecimal
    var fee: ExactDecimal?
    var note: String?

    static let shape = Shape<Trade>(
      fields: [
        .decimal("price") { $0.price }, .optionalDecimal("fee") { $0.fee },
        .string("note") { $0.note ?? "" }.present { $0.note != nil },
      ])
  }

  private static let trades = [
    Trade(price: ExactDecimal(units: 150, scale: 2)),
    Trade(price: ExactDecimal(2), fee: ExactDecimal(1), note: "a"),
  ]

  private static func text(_ write: (inout JSONWriter) -> Void) -> String {
    var text = JSONWriter()
    write(&text)
    return String(decoding: text.bytes, as: UTF8.self)
  }

  @Test("what is not known is null, and what is not present is left out")
  func rows() {
    let json = Self.text { $0.rows(Self.trades, as: Trade.shape) }
    #expect(json == #"[{"price":"1.50","fee":null},{"price":"2","fee":"1","note":"a"}]"#)
  }

  @Test("columns have a value of each row")
  func columns() {
    let json = Self.text { $0.columns(Self.trades, as: Trade.shape) }
    #expect(json == #"{"price":["1.50","2"],"fee":[null,"1"],"note":["","a"]}"#)
  }

  @Test("the schema requires what every object has")
  func schema() {
    guard case .object(let members) = Trade.shape.schema else {
      Issue.record("no object")
      return
    }
    #expect(members.map(\.name) == ["price", "fee", "note"])
    #expect(members.map(\.isRequired) == [true, true, false])
  }
}
