/// What a symbol stands for. The code's prefix decides; names never do.

public enum Exchange: Int16, Sendable, CaseIterable {
  case shanghai = 1
  case shenzhen = 2
  case beijing = 3
  case hongKong = 4
  case unitedStates = 5

  /// The prefix of a stored symbol, `sh`, `sz` or `bj`; empty elsewhere.
  public var prefix: String {
    switch self {
    case .shanghai: "sh"
    case .shenzhen: "sz"
    case .beijing: "bj"
    case .hongKong, .unitedStates: ""
    }
  }

  /// As `exchange_name()` of the database has it.
  public var name: String {
    switch self {
    case .shanghai: "shanghai"
    case .shenzhen: "shenzhen"
    case .beijing: "beijing"
    case .hongKong: "hong_kong"
    case .unitedStates: "united_states"
    }
  }
}

public enum InstrumentKind: Int16, Sendable, CaseIterable {
  case stock = 1
  /// ETF, LOF, closed-end fund, REIT.
  case fund = 2
  case index = 3
  case convertibleBond = 4
  case bShare = 5
  /// Treasury bond repurchase.
  case repo = 6

  public var name: String {
    switch self {
    case .stock: "stock"
    case .fund: "fund"
    case .index: "index"
    case .convertibleBond: "convertible_bond"
    case .bShare: "b_share"
    case .repo: "repo"
    }
  }
}

public enum Board: Int16, Sendable, CaseIterable {
  case main = 1
  case chiNext = 2
  case star = 3
  case beijing = 4
}

/// The identity of an A-share market instrument as far as its symbol tells.
public struct Instrument: Sendable, Hashable {
  public let symbol: Symbol
  public let exchange: Exchange
  public let kind: InstrumentKind
  /// Of a stock. A fund, an index or a bond carries its exchange's first board.
  public let board: Board
}
