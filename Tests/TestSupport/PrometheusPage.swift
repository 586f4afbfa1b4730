/// A strict reader of Prometheus' text format 0.0.4, written from its description and from nothing
/// of candled: what it accepts, a scraper accepts.

package struct PrometheusPage {
  package struct Sample: Hashable {
    package var name: String
    package var labels: [String: String]
    package var value: Double
  }

  package struct Fault: Error, CustomStringConvertible {
    package var description: String
  }

  package private(set) var samples: [Sample] = []
  package private(set) var types: [String: String] = [:]
  package private(set) var helps: [String: String] = [:]

  package subscript(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    samples.first { $0.name == name && $0.labels == labels }?.value
  }

  /// - Throws: `Fault` at the first line that is not as the format wants it.
  package init(_ text: String) throws(Fault) {
    guard text.hasSuffix("\n") else { throw Fault(description: "the last line has no end") }
    var current = ""
    var seen: Set<String> = []
    for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("# ") {
        current = try comment(line)
        continue
      }
      let sample = try Self.sample(line)
      let family = Self.family(of: sample.name, types)
      guard family == current, types[family] != nil, helps[family] != nil else {
        throw Fault(description: "\(sample.name) is not below its HELP and TYPE")
      }
      guard seen.insert("\(sample.name)\(sample.labels.sorted { $0.key < $1.key })").inserted else {
        throw Fault(description: "twice: \(line)")
      }
      samples.append(sample)
    }
    try checkHistograms()
  }

  /// - Returns: the family that begins or goes on.
  private mutating func comment(_ line: Substring) throws(Fault) -> String {
    let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
    guard words.count == 4, Self.isName(words[2]), !words[3].isEmpty else {
      throw Fault(description: "neither HELP nor TYPE: \(line)")
    }
    let name = String(words[2])
    if words[1] == "HELP", helps[name] == nil, types[name] == nil {
      helps[name] = String(words[3])
    } else if words[1] == "TYPE", types[name] == nil,
      ["counter", "gauge", "histogram"].contains(words[3])
    {
      types[name] = String(words[3])
    } else {
      throw Fault(description: "out of place or said twice: \(line)")
    }
    return name
  }

  private static func family(of name: String, _ types: [String: String]) -> String {
    for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) {
      let stem = String(name.dropLast(suffix.count))
      if types[stem] == "histogram" { return stem }
    }
    return name
  }

  private static func sample(_ line: Substring) throws(Fault) -> Sample {
    let fault = Fault(description: "no sample: \(line)")
    var rest = line
    let name = rest.prefix { $0 != "{" && $0 != " " }
    guard isName(name) else { throw fault }
    rest = rest.dropFirst(name.count)
    var labels: [String: String] = [:]
    if rest.hasPrefix("{") {
      rest = rest.dropFirst()
      repeat {
        guard let (key, value, tail) = label(rest), labels[key] == nil else { throw fault }
        labels[key] = value
        rest = tail
      } while rest.popFirst() == ","
    }
    guard rest.popFirst() == " ", !rest.isEmpty, !rest.contains(" "), let value = number(rest)
    else { throw fault }
    return Sample(name: String(name), labels: labels, value: value)
  }

  /// `key="value"` and what stands behind it.
  private static func label(_ text: Substring) -> (String, String, Substring)? {
    guard let equals = text.firstIndex(of: "=") else { return nil }
    let key = text[..<equals]
    var rest = text[text.index(after: equals)...]
    guard isName(key), !key.contains(":"), rest.popFirst() == "\"" else { return nil }
    var value = ""
    while let character = rest.popFirst() {
      switch character {
      case "\"": return (String(key), value, rest)
      case "\\":
        guard let escaped = rest.popFirst(),
          let plain = ["n": "\n", "\\": "\\", "\"": "\""][escaped]
        else { return nil }
        value += plain
      default: value.append(character)
      }
    }
    return nil
  }

  private static func number(_ text: Substring) -> Double? {
    if text == "+Inf" { return .infinity }
    guard text.utf8.allSatisfy({ (48...57).contains($0) || "+-.eE".utf8.contains($0) }) else {
      return nil
    }
    return Double(text)
  }

  private static func isName(_ text: Substring) -> Bool {
    guard let first = text.utf8.first, !(48...57).contains(first) else { return false }
    return text.utf8.allSatisfy { byte in
      (97...122).contains(byte) || (65...90).contains(byte) || (48...57).contains(byte)
        || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
    }
  }

  /// Buckets of a series rise, end with `+Inf`, and that one is the count.
  private func checkHistograms() throws(Fault) {
    for name in types.keys where types[name] == "histogram" {
      let all = Dictionary(grouping: samples.filter { $0.name == name + "_bucket" }) { bucket in
        bucket.labels.filter { $0.key != "le" }
      }
      guard !all.isEmpty else { throw Fault(description: "\(name) has no bucket") }
      for (labels, buckets) in all {
        let bounds = buckets.map { $0.labels["le"].flatMap { Self.number($0[...]) } ?? .nan }
        guard bounds.last == .infinity, bounds == bounds.sorted(),
          buckets.map(\.value) == buckets.map(\.value).sorted(),
          self[name + "_count", labels] == buckets.last?.value, self[name + "_sum", labels] != nil
        else { throw Fault(description: "\(name) \(labels) is no histogram") }
      }
    }
  }
}
