/// The two feeds Alpaca's bars are made from. They are different series of the same stock and are
/// never mixed: IEX sees some two percent of the volume (upstreams/alpaca.md §B.7).

public enum AlpacaFeed: String, Sendable, Hashable, CaseIterable {
  case iex
  case sip

  public var source: Source {
    switch self {
    case .iex: .alpacaIEX
    case .sip: .alpacaSIP
    }
  }
}
