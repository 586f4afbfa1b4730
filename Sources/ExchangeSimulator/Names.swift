/// Invented company names, as raw GB18030.
///
/// They hold what trips decoders up: full-width letters and inner spaces, marks before the name,
/// characters of four bytes, and characters whose second byte is an ASCII `|`, `\`, `_` or digit.
package struct Names {
  private let firsts: [[UInt8]]
  private let seconds: [[UInt8]]
  private let trades: [[UInt8]]
  private let funds: [[UInt8]]
  private let oddities: [[UInt8]]
  let shanghaiIndex: [UInt8]
  let shenzhenIndex: [UInt8]
  let otherIndexes: [[UInt8]]

  /// 亅 is 81 7C and 乗 is 81 5C in GB18030; 㐀 and 𠮷 take four bytes.
  private static let odd = [
    "远 山Ａ", "云 泽Ａ", "亅川股份", "乗风科技", "㐀原药业", "𠮷庆酒业", "*ST岚谷", "ST泊远", "XD晴川股",
    "澄海-U", "凌霄-W", "DR岭南木", "XR望江石", "Ｇ长汀",
  ]

  package init() {
    firsts = Names.split("澄 岚 泊 晴 凌 望 远 云 汀 岭 砚 松 柏 鹭 鹤 江 川 禾 稷 璟 瑾 砥 岳 峻 霁 泓 沅 湘 漠 朔")
    seconds = Names.split("光 原 泽 谷 溪 庭 舟 桥 野 林 石 木 星 辰 河 港 城 关 岩 岛 峰 湾 渡 坪 渚 圃 陵 塘 堰 汐")
    trades = Names.split("股份 科技 电子 药业 重工 新材 能源 环境 化工 食品 酒业 物流 传媒 软件 光电 精工 银行 证券 水泥 钢铁")
    funds = Names.split("宽基ETF 红利ETF 成长ETF 价值ETF 半导体ETF 医药ETF 国债ETF 黄金ETF 能源LOF 消费ETF")
    oddities = Names.odd.map(Names.encoded)
    shanghaiIndex = Names.encoded("上证指数")
    shenzhenIndex = Names.encoded("深证成指")
    otherIndexes = Names.split("澄海三百 远山五十 云泽创业 岚谷中小")
  }

  private static func split(_ words: String) -> [[UInt8]] {
    words.split(separator: " ").map { encoded(String($0)) }
  }

  /// Without a converter the names are empty and everything else still works: they are decoration.
  private static func encoded(_ text: String) -> [UInt8] {
    GB18030.encoded(text) ?? []
  }

  package func stock(_ number: Int) -> [UInt8] {
    if number < oddities.count { return oddities[number] }
    let place = number - oddities.count
    return firsts[place % firsts.count]
      + seconds[place / firsts.count % seconds.count]
      + trades[(place / (firsts.count * seconds.count) + place) % trades.count]
  }

  func fund(_ number: Int) -> [UInt8] {
    firsts[number / funds.count % firsts.count] + funds[number % funds.count]
  }
}
