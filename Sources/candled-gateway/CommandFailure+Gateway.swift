import AppStore
import Commands
import Gateway
import Operations

/// The exit statuses of what only the gateway meets.
extension CommandFailure {
  /// nil for an error that no module throws, such as ArgumentParser's.
  init?(ofGateway error: any Error) {
    if let error = error as? ListenError {
      self.init(status: error.exitCode, sentence: error.description)
      return
    }
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
