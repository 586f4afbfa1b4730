import Testing

/// Where the tests' program begins. SwiftPM would write it itself, after it has looked for XCTest's
/// tests in an index that the compiler makes of every module; there are none, and no index.
@main
struct TestProgram {
  static func main() async {
    // `swift test` also starts it for XCTest.
    guard CommandLine.arguments.contains("swift-testing") else { return }
    await Testing.__swiftPMEntryPoint() as Never
  }
}
