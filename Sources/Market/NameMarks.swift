/// What an exchange writes in front of the name of a stock, as far as its price limit depends on
/// it: `N科隆`, `XDST粤传`, `*ST海华-U`.
///
/// The marks of a stock's name only: a fund or an index may begin with the same letters. Names come
/// with full-width letters and with spaces (`万 科Ａ`), so both are folded away first.
public struct NameMarks: OptionSet, Sendable, Hashable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// N: the day of listing.
  public static let firstDay = NameMarks(rawValue: 1 << 0)
  /// C: the second to fifth day, without limit like the first.
  public static let firstDays = NameMarks(rawValue: 1 << 1)
  /// ST or *ST.
  public static let specialTreatment = NameMarks(rawValue: 1 << 2)

  /// The marks in `name`; none is no error.
  public static func parse(_ name: String) -> NameMarks {
    let name = Substring(folded(name))
    guard let (length, marks) = dayMark(name) else { return treatment(name) }
    return marks.union(treatment(name.dropFirst(length)))
  }

  /// The name without its marks, and without what a change of width or of spaces alters: for a
  /// comparison.
  package static func bareName(_ name: String) -> String {
    var rest = Substring(folded(name))
    if let (length, _) = dayMark(rest) { rest = rest.dropFirst(length) }
    let treatment = treatments.first { rest.hasPrefix($0) } ?? ""
    return String(rest.dropFirst(treatment.count))
  }

  /// The words of those that count for a price limit.
  public var words: [String] {
    let named: [(NameMarks, String)] = [
      (.firstDay, "first_day"), (.firstDays, "first_days"),
      (.specialTreatment, "special_treatment"),
    ]
    return named.filter { contains($0.0) }.map(\.1)
  }

  /// Whether an undecoded name says that no price limit applies: N and C before a Chinese name in
  /// the first days after a listing, 退 at either end before a delisting.
  public static func sayUnlimited(_ name: UnsafeRawBufferPointer) -> Bool {
    guard name.count > 1 else { return false }
    let isNew = name[0] == UInt8(ascii: "N") || name[0] == UInt8(ascii: "C")
    if isNew, name[1] >= 0x80 { return true }
    return spells([0xCD, 0xCB], in: name, at: 0)
      || spells([0xCD, 0xCB], in: name, at: name.count - 2)
      || spells([0xE9, 0x80, 0x80], in: name, at: 0)
      || spells([0xE9, 0x80, 0x80], in: name, at: name.count - 3)
  }

  /// 退 is CD CB in GB18030 and E9 80 80 in UTF-8.
  private static func spells(
    _ mark: InlineArray<2, UInt8>, in name: UnsafeRawBufferPointer, at place: Int
  ) -> Bool {
    place >= 0 && place + 2 <= name.count && name[place] == mark[0] && name[place + 1] == mark[1]
  }

  private static func spells(
    _ mark: InlineArray<3, UInt8>, in name: UnsafeRawBufferPointer, at place: Int
  ) -> Bool {
    place >= 0 && place + 3 <= name.count && name[place] == mark[0] && name[place + 1] == mark[1]
      && name[place + 2] == mark[2]
  }

  /// Full-width ASCII to plain, spaces of either width gone.
  private static func folded(_ name: String) -> String {
    var folded = String.UnicodeScalarView()
    for scalar in name.unicodeScalars where scalar != " " && scalar != "\u{3000}" {
      let isWide = ("\u{FF01}"..."\u{FF5E}").contains(scalar)
      let plain = isWide ? Unicode.Scalar(scalar.value - 0xFEE0) : scalar
      folded.append(plain ?? scalar)
    }
    return String(folded)
  }

  /// The mark of the day at the front, with its length; none for XD, XR and DR, which move no
  /// limit. N and C count only before a Chinese name or another mark: a company may well be called
  /// `NCL` one day.
  private static func dayMark(_ rest: Substring) -> (length: Int, marks: NameMarks)? {
    if ["XD", "XR", "DR"].contains(rest.prefix(2)) { return (2, []) }
    let name = rest.dropFirst()
    guard let next = name.first, !next.isASCII || !treatment(name).isEmpty else { return nil }
    switch rest.first {
    case "N": return (1, .firstDay)
    case "C": return (1, .firstDays)
    default: return nil
    }
  }

  private static let treatments = ["ST", "*ST", "SST", "S*ST"]

  /// `ST` or `*ST`, with an S before it where the share reform of 2005 is still open.
  private static func treatment(_ rest: Substring) -> NameMarks {
    treatments.contains { rest.hasPrefix($0) } ? .specialTreatment : []
  }
}
