import AppStore
import Commands
import Operations

/// The exit statuses of what only the gateway meets.
extension CommandFailure {
  /// nil for an error that no module throws, such as ArgumentParser's.
  init?(ofGateway error: any Error) {
    guard let error = error as? AppStoreError else {
      self.init(ofShared: error)
      return
    }
    if case .store(let cause) = error {
      self.init(ofShared: cause)
    } else {
      self.init(status: .dataError, sentence: error.description)
    }
  }
}
