/// The names of the instruments, decoded once.
///
/// A sweep brings every name again and almost none has changed: comparing the raw bytes with those
/// decoded last time costs a few nanoseconds, decoding sixty. Indexes are the caller's, dense from
/// zero. Belongs to one isolation domain, as the decoder inside does.

package struct NameCache {
  private let decoder = GB18030Decoder()
  private var slots: [Slot] = []
  private var names: [String] = []

  /// The raw bytes of a name and their length; longer names are decoded each time.
  private struct Slot {
    static let bytesMax = 48
    /// The count of a slot whose name is not the one last seen: no name it can hold has so many.
    static let forgotten: UInt8 = 255
    var words = InlineArray<6, UInt64>(repeating: 0)
    var charset = NameCharset.gb18030
    var count: UInt8 = 0
  }

  package init() {}

  /// The name last seen at `index`; empty before the first.
  package func name(at index: Int) -> String { index < names.count ? names[index] : "" }

  /// Takes `raw` as the name of the instrument at `index`; true if it differs from the last one.
  @discardableResult
  package mutating func update(at index: Int, raw: RawName) -> Bool {
    grow(toHold: index)
    let fits = raw.bytes.count <= Slot.bytesMax
    if fits, isUnchanged(at: index, raw: raw) { return false }
    let text = decoder.text(of: raw)
    if fits { remember(raw, at: index) } else { slots[index].count = Slot.forgotten }
    if names[index] == text { return false }
    names[index] = text
    return true
  }

  private mutating func grow(toHold index: Int) {
    precondition(index >= 0, "an index is dense from zero")
    while slots.count <= index {
      slots.append(Slot())
      names.append("")
    }
  }

  private func isUnchanged(at index: Int, raw: RawName) -> Bool {
    guard Int(slots[index].count) == raw.bytes.count, slots[index].charset == raw.charset else {
      return false
    }
    return withUnsafeBytes(of: slots[index].words) { kept in
      kept.slice(0, to: raw.bytes.count).equals(raw.bytes)
    }
  }

  private mutating func remember(_ raw: RawName, at index: Int) {
    slots[index].count = UInt8(raw.bytes.count)
    slots[index].charset = raw.charset
    withUnsafeMutableBytes(of: &slots[index].words) { $0.copyMemory(from: raw.bytes) }
  }
}
