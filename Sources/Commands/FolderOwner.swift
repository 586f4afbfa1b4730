import Glibc
import Operations

/// Root works in the folder of a service as that service's user: a file of root's in it would shut
/// the service out.
package enum FolderOwner {
  /// Gives up root's rights for the rest of the process. Files that only root reads must have been
  /// read by then. Nothing happens to anybody but root, in a folder of root's, or without a folder.
  /// - Throws: `noPermission` where the system refuses, or the owner is no user of this machine.
  package static func become(of folder: String) throws(CommandFailure) {
    var status = stat()
    guard geteuid() == 0, stat(folder, &status) == 0, status.st_uid != 0 else { return }
    guard let entry = getpwuid(status.st_uid),
      initgroups(entry.pointee.pw_name, entry.pointee.pw_gid) == 0,
      setgid(entry.pointee.pw_gid) == 0, setuid(entry.pointee.pw_uid) == 0
    else {
      throw CommandFailure(
        status: .noPermission,
        sentence: "\(folder) belongs to user \(status.st_uid): run the command as that user")
    }
  }
}
