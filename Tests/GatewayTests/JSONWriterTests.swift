import Foundation
import Market
import Testing

@testable import Gateway

@Suite struct JSONWriterTests {
  @Test("what is written reads back by another reader of JSON")
  func readsBack() throws {
    var text = JSONWriter()
    text.object { stock in
      stock.member("name") { $0.string("茅台 \"A\"\\\n\u{1}") }
      stock.member("price") { $0.decimal(ExactDecimal(units: 1_769_040, scale: 3)) }
      stock.member("seq") { $0.integer(7) }
      stock.member("isStale") { $0.boolean(false) }
      stock.member("trading") { $0.null() }
      stock.member("bids") { bids in
        bids.array { levels in
          levels.string("one")
          levels.object { _ in }
          levels.encoded(Array("[1,2]".utf8))
        }
      }
    }
    let read = try JSONSerialization.jsonObject(with: Data(text.bytes)) as? NSDictionary
    let expected: NSDictionary = [
      "name": "茅台 \"A\"\\\n\u{1}", "price": "1769.040", "seq": 7, "isStale": false,
      "trading": NSNull(), "bids": ["one", [:] as NSDictionary, [1, 2]] as NSArray,
    ]
    #expect(read == expected)
  }
}
