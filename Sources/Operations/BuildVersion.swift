/// The version of candled and how this binary was built.
package enum BuildVersion {
  /// The one place where the version stands.
  package static let current = "0.1.0"

  #if compiler(>=6.4)
    package static let swift = "6.4 or later"
  #elseif compiler(>=6.3)
    package static let swift = "6.3"
  #else
    package static let swift = "6.2"
  #endif

  #if DEBUG
    package static let configuration = "debug"
  #else
    package static let configuration = "release"
  #endif
}
