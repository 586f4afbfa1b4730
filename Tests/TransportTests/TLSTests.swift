import Glibc
import TestTraits
import Testing
import Transport

private let hasOpenSSL = system("openssl version >/dev/null 2>&1") == 0

/// `openssl s_server` with a certificate of its own making, until it is dropped.
private final class TLSServer {
  let folder: String
  private(set) var port: UInt16 = 0
  private var process: pid_t = 0
  private var output: UnsafeMutablePointer<FILE>?

  var certificate: String { folder + "/certificate.pem" }

  /// - Parameter name: the host or address the certificate is for, as openssl spells it.
  init?(name: String) {
    var template = Array("/tmp/candled-tls-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { return nil }
    folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    let made = system(
      "cd \(folder) && openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem"
        + " -out certificate.pem -days 2 -subj /CN=test -addext subjectAltName=\(name)"
        + " >/dev/null 2>&1")
    guard made == 0, start() else { return nil }
  }

  /// Reads the port off the line `ACCEPT 127.0.0.1:port`.
  private func start() -> Bool {
    var pipes: [Int32] = [0, 0]
    guard pipe(&pipes) == 0 else { return false }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 1)
    posix_spawn_file_actions_addclose(&actions, pipes[0])
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    let words = [
      "openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-key", folder + "/key.pem",
      "-cert", certificate,
    ]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    guard posix_spawnp(&process, "openssl", &actions, nil, &arguments, environ) == 0 else {
      return false
    }
    close(pipes[1])
    output = fdopen(pipes[0], "r")
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, 256, output) != nil {
      let text = String(
        decoding: line.prefix { $0 != 10 && $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
      if text.hasPrefix("ACCEPT"), let digits = text.split(separator: ":").last {
        port = UInt16(digits) ?? 0
        return port != 0
      }
    }
    return false
  }

  deinit {
    if process > 0 {
      kill(process, SIGKILL)
      waitpid(process, nil, 0)
    }
    if let output { fclose(output) }
    for name in ["key.pem", "certificate.pem"] { unlink(folder + "/" + name) }
    rmdir(folder)
  }
}

@Suite(.ownThread, .enabled(if: hasOpenSSL, "needs the openssl command"))
struct TLSTests {
  @Test func `a self-signed certificate is refused`() async throws {
    let server = try #require(TLSServer(name: "IP:127.0.0.1"))
    let request = try HTTPRequest("https://127.0.0.1:\(server.port)")
    #expect(await failure(try HTTPClient(), request) == .certificate)
  }

  @Test func `a certificate among the trusted ones is accepted`() async throws {
    let server = try #require(TLSServer(name: "IP:127.0.0.1"))
    var configuration = HTTPClientConfiguration()
    configuration.authoritiesPath = server.certificate
    let request = try HTTPRequest("https://127.0.0.1:\(server.port)")
    let client = try HTTPClient(configuration)
    #expect(try await client.send(request).status == 200)
    // It is made for two days.
    let left = (client.authorityEnds["127.0.0.1"] ?? 0) - Int64(time(nil))
    #expect(left > 86_400 && left <= 2 * 86_400, "\(left)")
  }

  @Test func `a trusted certificate for another name is refused`() async throws {
    let server = try #require(TLSServer(name: "DNS:elsewhere.example"))
    var configuration = HTTPClientConfiguration()
    configuration.authoritiesPath = server.certificate
    let request = try HTTPRequest("https://127.0.0.1:\(server.port)")
    #expect(await failure(try HTTPClient(configuration), request) == .certificate)
  }

  @Test func `changed authorities hold from the next connection on`() async throws {
    let server = try #require(TLSServer(name: "IP:127.0.0.1"))
    let other = try #require(TLSServer(name: "IP:127.0.0.1"))
    var configuration = HTTPClientConfiguration()
    configuration.authoritiesPath = other.certificate
    let client = try HTTPClient(configuration)
    let request = try HTTPRequest("https://127.0.0.1:\(server.port)")
    #expect(await failure(client, request) == .certificate)
    #expect(system("cp \(server.certificate) \(other.certificate)") == 0)
    #expect(try await client.send(request).status == 200)
  }
}
