import Commands
import Feeds

extension Help {
  /// A source that must be named to be meant.
  static let otherSource = SourceRegistry.series.last { $0.source.hasBarsAlone }?.name ?? ""
}
