/// The initials of a name in pinyin, with every reading of characters that have several, so that
/// `zsyh` and `zsyx` both find 招商银行. Nothing is expanded: each place of a name holds the set of
/// letters that it may begin with.

import Foundation

struct PinyinInitials: Sendable {
  /// By place: a bit for each letter and digit that fits there.
  private var places: [UInt64] = []

  /// - Parameter name: in small letters. What is no Chinese stays, but for signs: `tcl科技` is
  ///   `tclkj`.
  init(of name: String) {
    for character in name {
      let letters =
        character.isASCII
        ? Self.set(of: String(character))
        : Self.set(of: Self.usualReading(of: character)) | (Self.otherReadings[character] ?? 0)
      if letters != 0 { places.append(letters) }
    }
  }

  /// Whether a choice of readings begins with `text`.
  func begin(with text: String) -> Bool {
    let wanted = text.utf8
    return wanted.count <= places.count
      && zip(wanted, places).allSatisfy { byte, letters in Self.bit(of: byte) & letters != 0 }
  }

  private static func usualReading(of character: Character) -> String {
    let latin = String(character).applyingTransform(.mandarinToLatin, reverse: false)?
      .applyingTransform(.stripDiacritics, reverse: false)
    return latin.map { String($0.prefix(1)).lowercased() } ?? ""
  }

  private static func set(of letters: String) -> UInt64 {
    letters.utf8.reduce(0) { $0 | bit(of: $1) }
  }

  /// 0 of what is neither a small letter nor a digit.
  private static func bit(of byte: UInt8) -> UInt64 {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): 1 << UInt64(byte - UInt8(ascii: "a"))
    case UInt8(ascii: "0")...UInt8(ascii: "9"): 1 << UInt64(26 + byte - UInt8(ascii: "0"))
    default: 0
    }
  }

  private static let otherReadings: [Character: UInt64] = {
    var readings: [Character: UInt64] = [:]
    for (letters, characters) in polyphones {
      for character in characters { readings[character, default: 0] |= set(of: letters) }
    }
    return readings
  }()

  /// Characters by the initials that they are read with in today's words, names and places, as of
  /// November 2026: those of GB 2312 whose readings in Unihan (kMandarin, kHanyuPinyin) begin with
  /// several letters, without readings that only old texts have.
  static let polyphones: KeyValuePairs<String, String> = [
    "ae": "阿", "ay": "艾", "bf": "贲", "bm": "秘泌", "bp": "便堡埔屏扁扒耙暴曝泊瀑刨炮膀磅般辟",
    "ccs": "参", "cd": "澄", "cds": "单", "cj": "车", "cjz": "剿",
    "cq": "仇", "cs": "乘伺刹匙沈盛禅", "ct": "倘", "cx": "臭畜",
    "cz": "长重朝曾传藏查种侧撮椎幢嘲卒攒枞兹", "dc": "蹲", "dn": "鸟", "ds": "石掸",
    "dt": "弹调提佃侗恫叨囤町洞", "dz": "丁翟", "eo": "哦", "ew": "恶", "fb": "佛",
    "fp": "冯否番繁脯", "gh": "合红滑桧鹄蛤镐", "gj": "句夹柜给贾颈", "gjk": "咖", "gjq": "伽龟",
    "gl": "纶", "gq": "乾", "gw": "莞涡", "gyz": "轧", "hj": "虹", "hk": "会咳溃阚", "hm": "貉",
    "hx": "行吓虾巷还", "jk": "槛", "jq": "卷圈奇其期强茄浅稽缉瞿将", "jx": "降解校系见挟",
    "jy": "筠", "jz": "咀祭缴", "kq": "卡壳", "ks": "适", "kw": "隗", "ln": "弄", "ls": "率",
    "ly": "乐", "mw": "万蔓", "ns": "尿", "nz": "粘", "oq": "区", "qs": "鞘", "qt": "覃",
    "qx": "纤券契茜荨", "qy": "铅圻", "st": "汤", "sx": "厦省宿莘", "sy": "蛇说俞",
    "sz": "召术属折栅殖氏识", "ty": "陶", "tz": "屯", "wx": "圩", "wy": "宛尉尾蔚遗", "xy": "叶吁邪",
    "yz": "粥",
  ]
}
