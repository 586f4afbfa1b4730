/// Why the gateway does not listen.

import Glibc
import Operations

package struct ListenError: Error {
  package var address: ListenAddress
  package var errorNumber: Int32

  package var exitCode: ExitCode {
    switch errorNumber {
    case EADDRINUSE: .temporaryFailure
    case EACCES, EPERM: .noPermission
    default: .unavailable
    }
  }
}

extension ListenError: CustomStringConvertible {
  package var description: String {
    "gateway.listen: cannot listen at \(address): \(String(cString: strerror(errorNumber)))"
  }
}
