import Testing

@testable import Transport

@Suite struct BaseAddressTests {
  @Test(arguments: [
    ("https://hq.sinajs.cn", "https://hq.sinajs.cn"),
    ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ("HTTPS://HQ.Sinajs.CN/", "https://hq.sinajs.cn"),
    ("http://[::1]:80", "http://[::1]:80"),
    ("http://localhost", "http://localhost"),
  ])
  func `scheme, host and port are read and shown`(_ text: String, _ shown: String) throws {
    #expect(try BaseAddress(parsing: text).description == shown)
  }

  @Test(arguments: [
    "", "hq.sinajs.cn", "ftp://hq.sinajs.cn", "file:///etc/passwd", "https://", "https://:80",
    "https://host/path", "https://host?key=1", "https://host#f", "https://user@host",
    "https://user:secret@host", "https://host:0", "https://host:65536", "https://host:",
    "https://host:+1", "https://ho st", "https://-host", "https://a..b", "https://[::1",
    "https://[zz]", "https://host\r\nX: 1", "https://ho%73t", "https://host//", "https://主机",
  ])
  func `anything else is refused without an echo`(_ text: String) {
    let error = #expect(throws: TransportError.self) { try BaseAddress(parsing: text) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.description == "the address, path or header is not valid")
  }

  @Test func `the URL is base and path, byte for byte`() throws {
    let request = try HTTPRequest("https://hq.sinajs.cn", "/rn=1&list=sh600519,gb_$ixic")
    #expect(request.url == "https://hq.sinajs.cn/rn=1&list=sh600519,gb_$ixic")
  }

  @Test(arguments: ["", "list", "/a b", "/a\r\nX: 1", "/a#b", "/中", "/\0", "@evil.example/"])
  func `a path that could leave its host or line is refused`(_ path: String) throws {
    #expect(try HTTPRequest("https://hq.sinajs.cn", path).url == nil)
  }

  @Test func `a request does not show its path or headers`() throws {
    var request = try HTTPRequest("https://hq.sinajs.cn", "/key/secret")
    request.headers = [("Authorization", "secret")]
    var dumped = ""
    dump(request, to: &dumped)
    #expect(!"\(request)\(String(reflecting: request))\(dumped)".contains("secret"))
  }
}
