/// An answer in Sina's quote format, names in GB18030; the figures are made up.
enum SinaFixture {
  /// A stock, a halted stock and a symbol the source does not know.
  static let body: [UInt8] =
    line("sh600519", name: maotai, fields: traded) + line("sz000001", name: pingan, fields: halted)
    + Array("var hq_str_sh600999=\"\";\n".utf8)

  static let refused = Array("var hq_str_sys_auth=\"FAILED\";\n".utf8)

  /// 贵州茅台 and 平安银行 in GB18030.
  private static let maotai: [UInt8] = [0xB9, 0xF3, 0xD6, 0xDD, 0xC3, 0xA9, 0xCC, 0xA8]
  private static let pingan: [UInt8] = [0xC6, 0xBD, 0xB0, 0xB2, 0xD2, 0xF8, 0xD0, 0xD0]

  private static let traded =
    "1760.000,1759.900,1769.040,1771.000,1758.500,1769.030,1769.040,31400,55407060.000,"
    + "100,1769.030,200,1769.020,300,1769.010,400,1769.000,500,1768.990,"
    + "600,1769.040,700,1769.050,800,1769.060,900,1769.070,1000,1769.080,"
    + "2026-07-06,10:42:18,00,"
  private static let halted =
    "0.000,11.200,0.000,0.000,0.000,0.000,0.000,0,0.000,"
    + "0,0.000,0,0.000,0,0.000,0,0.000,0,0.000,0,0.000,0,0.000,0,0.000,0,0.000,0,0.000,"
    + "2026-07-06,10:42:18,03"

  private static func line(_ symbol: String, name: [UInt8], fields: String) -> [UInt8] {
    Array("var hq_str_\(symbol)=\"".utf8) + name + Array(",\(fields)\";\n".utf8)
  }
}
