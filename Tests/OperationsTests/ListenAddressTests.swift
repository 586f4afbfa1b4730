import Operations
import Testing

@Suite struct ListenAddressTests {
  @Test(arguments: [
    ("127.0.0.1:9466", "127.0.0.1:9466", true), ("localhost:0", "127.0.0.1:0", true),
    ("0.0.0.0:9466", "0.0.0.0:9466", false), ("10.1.2.3:80", "10.1.2.3:80", false),
    ("[::1]:9466", "[::1]:9466", true), ("[::]:65535", "[::]:65535", false),
    ("/run/candled/admin", "/run/candled/admin", true),
  ])
  func `an address is read and shown`(text: String, shown: String, isLocal: Bool) throws {
    let address = try #require(ListenAddress(text))
    #expect(address.description == shown && address.isLocal == isLocal)
  }

  @Test(arguments: [
    "9466", ":9466", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "host:80",
    "::1:80", "[::1]", "127.0.0.1:+80", "run/admin", "127.0.0.256:80", "",
    "/" + String(repeating: "x", count: 103),
  ])
  func `anything else is none`(text: String) { #expect(ListenAddress(text) == nil) }

  @Test func `the setting takes an address, a path or nothing`() throws {
    var settings = Settings(.candled)
    #expect(settings[AdminSettings.listen]?.description == "127.0.0.1:9466")
    try settings.overlay(key: "admin.listen", value: "")
    #expect(settings[AdminSettings.listen] == nil)
    try settings.overlay(key: "admin.listen", value: "/run/candled/admin")
    #expect(settings[AdminSettings.listen] == .unix(path: "/run/candled/admin"))
    #expect(throws: ConfigurationError.self) {
      try settings.overlay(key: "admin.listen", value: "9466")
    }
  }
}
