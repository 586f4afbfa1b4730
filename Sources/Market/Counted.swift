/// A number with its noun, for people: `1 entry`, `2 entries`.
/// - Parameter many: nil where the plural is the singular with an s.
public func counted(
  _ number: some BinaryInteger, _ one: String, _ many: String? = nil
) -> String {
  "\(number) \(number == 1 ? one : many ?? one + "s")"
}
