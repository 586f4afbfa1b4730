import Market

/// `ExactDecimal` in PostgreSQL's binary `numeric`: no digit is lost and the scale the source sent
/// becomes the display scale, so that `1769.040` prints as `1769.040` in psql too.
extension WireBuffer {
  /// `numeric`: count of base-10000 digits, weight of the first, sign, display scale, digits.
  /// The digits are cut at the decimal point, without leading or trailing zero groups.
  package mutating func numeric(_ value: ExactDecimal) {
    let lengthAt = count
    count += 4 + 8  // length and header are written once the digits are known
    let digitsAt = count
    let magnitude = value.units.magnitude
    let divisor = UInt64(PowersOfTen.value(value.scale))
    let (whole, fraction) = magnitude.quotientAndRemainder(dividingBy: divisor)
    var weight = integerGroups(whole)
    if fraction != 0 {
      fractionGroups(fraction, scale: value.scale, digitsAt: digitsAt, weight: &weight)
    }
    trimZeroGroups(downTo: digitsAt)
    let groups = (count - digitsAt) / 2
    let end = count
    count = lengthAt
    store(Int32(8 + 2 * groups))
    store(Int16(groups))
    store(Int16(groups == 0 ? 0 : weight))
    store(UInt16(value.units < 0 ? 0x4000 : 0))
    store(Int16(value.scale))
    count = end
  }

  /// Writes the groups before the point and returns the weight of the first: -1 if there is none.
  private mutating func integerGroups(_ whole: UInt64) -> Int {
    if whole == 0 { return -1 }
    let weight = integerGroups(whole / 10_000) + 1
    store(UInt16(truncatingIfNeeded: whole % 10_000))
    return weight
  }

  /// Writes the groups behind the point. Leading zero groups are left out as long as nothing
  /// stands before them: each lowers the weight instead.
  private mutating func fractionGroups(
    _ fraction: UInt64, scale: UInt8, digitsAt: Int, weight: inout Int
  ) {
    var rest = fraction
    var digitsLeft = Int(scale)
    while rest != 0 {
      let group: UInt64
      if digitsLeft > 4 {
        let power = UInt64(PowersOfTen.value(UInt8(digitsLeft - 4)))
        group = rest / power
        rest %= power
      } else {
        group = rest * UInt64(PowersOfTen.value(UInt8(4 - digitsLeft)))
        rest = 0
      }
      digitsLeft -= 4
      if group == 0, count == digitsAt {
        weight -= 1
      } else {
        store(UInt16(truncatingIfNeeded: group))
      }
    }
  }

  private mutating func trimZeroGroups(downTo digitsAt: Int) {
    while count > digitsAt, memory[count - 1] == 0, memory[count - 2] == 0 { count -= 2 }
  }
}

// MARK: Text

extension WireBuffer {
  /// `price:volume price:volume …`, best level first, without the empty levels at the end. Here and
  /// not beside the table, where each byte would be a call with its type looked up.
  package mutating func book(_ book: borrowing Quote.Book) {
    var levels = book.count
    while levels > 0, book[levels - 1] == .empty { levels -= 1 }
    let lengthAt = count
    count += 4
    for index in 0..<levels {
      if index > 0 { store(UInt8(ascii: " ")) }
      decimalText(book[index].price)
      store(UInt8(ascii: ":"))
      decimalText(book[index].volume)
    }
    patchLength(at: lengthAt)
  }

  private mutating func decimalText(_ value: ExactDecimal) {
    count += value.write(to: UnsafeMutableRawBufferPointer(rebasing: memory[count...]))
  }
}
