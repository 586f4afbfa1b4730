import Commands
import Feeds

/// Words of help that only the registered sources know.
extension Help {
  /// A source that must be named to be meant.
  static let otherSource = SourceRegistry.series.last { $0.source.hasBarsAlone }?.name ?? ""
}
