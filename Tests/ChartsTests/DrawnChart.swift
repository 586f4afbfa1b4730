import Foundation
import FoundationXML
import Testing

/// A picture as a reader of XML sees it.
final class DrawnChart: NSObject, XMLParserDelegate {
  struct Element {
    let name: String
    let attributes: [String: String]
    var text = ""
  }

  private(set) var elements: [Element] = []
  private var open: [Int] = []

  init(_ svg: [UInt8]) throws {
    super.init()
    let parser = XMLParser(data: Data(svg))
    parser.delegate = self
    let isWellFormed = parser.parse()
    try #require(isWellFormed, "\(String(describing: parser.parserError))")
  }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String] = [:]
  ) {
    open.append(elements.count)
    elements.append(Element(name: name, attributes: attributes))
  }

  func parser(
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    open.removeLast()
  }

  func parser(_ parser: XMLParser, foundCharacters text: String) {
    if let last = open.last { elements[last].text += text }
  }

  var root: [String: String] { elements.first?.attributes ?? [:] }
  var title: String { elements.first { $0.name == "title" }?.text ?? "" }
  var summary: String { elements.first { $0.name == "desc" }?.text ?? "" }
  var texts: [String] { elements.filter { $0.name == "text" }.map(\.text) }

  /// The bars of paths of a class: from where they go down, and how far.
  func bars(_ names: String) -> [(x: Int, y: Int, height: Int, width: Int)] {
    elements.filter { $0.name == "path" && $0.attributes["class"] == names }.flatMap { path in
      let width = path.attributes["stroke-width"].flatMap { Int($0) } ?? 1
      return (path.attributes["d"] ?? "").matches(of: #/M(\d+) (\d+)v(\d+)/#).map {
        (Int($0.1) ?? 0, Int($0.2) ?? 0, Int($0.3) ?? 0, width)
      }
    }
  }

  /// Of the group of the candles.
  func scale() throws -> (low: Decimal, high: Decimal, top: Int, bottom: Int) {
    let group = try #require(elements.first { $0.attributes["data-low"] != nil }?.attributes)
    return (
      try #require(Decimal(string: group["data-low"] ?? "")),
      try #require(Decimal(string: group["data-high"] ?? "")),
      try #require(Int(group["data-top"] ?? "")), try #require(Int(group["data-bottom"] ?? ""))
    )
  }
}
