import Foundation
import HTTPTypes
import Market
import TestTraits
import Testing

@testable import Gateway
@testable import Page

@Suite(.ownThread) struct PageTests {
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Sources/Page/Files")

  @Test("the program carries each file of the folder, byte for byte")
  func files() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    #expect(Set(names) == Set(Page.files.keys).union(["index.html"]))
    for (name, file) in Page.files {
      let bytes = try Data(contentsOf: Self.folder.appending(path: name))
      #expect(Data(file.bytes) == bytes, "\(name)")
    }
  }

  @Test("the page knows the places of prices by the kinds that the API names")
  func placesOfPrices() throws {
    let format = try #require(Page.files["format.js"])
    let script = String(decoding: format.bytes, as: UTF8.self)
    let table = try #require(script.firstMatch(of: #/placesOfKind = \{ ([^}]*) \}/#)?.output.1)
    let kinds = table.split(separator: ", ").map { String($0.prefix { $0 != ":" }) }
    // Those with an instrument whose tick is a thousandth; an index is shown otherwise.
    let fine = ["sh510050", "sh113050", "sh900901", "sz131810"].compactMap {
      Symbol($0).flatMap(Instrument.classify)
    }
    #expect(fine.allSatisfy { $0.tickSize.scale == 3 })
    #expect(Set(kinds) == Set(fine.map(\.kind.name)))
  }

  @Test("the page and all that it refers to are served, under names that change with them")
  func served() async throws {
    let fixture = try await ServedFixture()
    let start = try await fixture.get("/")
    #expect(start.status == 200 && start.headers[.cacheControl] == "no-cache")
    let policy = try #require(start.headers[.contentSecurityPolicy])
    #expect(policy.hasPrefix("default-src 'none'; script-src 'self';"))
    for (name, value) in [
      ("Cross-Origin-Opener-Policy", "same-origin"),
      ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ] {
      #expect(start.headers[try #require(HTTPField.Name(name))] == value)
    }
    let references = start.body.matches(of: #/(?:src|href)="([^"]+)"/#).map(\.output.1)
    #expect(references.count >= 3)
    for reference in references {
      #expect(reference.hasPrefix("/page/\(Page.version)/"))
      #expect(try await fixture.get(String(reference)).status == 200, "\(reference)")
    }
    for (name, file) in Page.files {
      let reply = try await fixture.get(Page.folder + name)
      #expect(reply.status == 200 && reply.headers[.contentType] == file.contentType)
      #expect(reply.headers[.cacheControl]?.contains("immutable") == true)
      // What a script imports is beside it.
      for found in reply.body.matches(of: #/from "\./([^"]+)"/#) {
        #expect(Page.files[String(found.output.1)] != nil, "\(name) imports \(found.output.1)")
      }
    }
    for path in ["/page/0/page.js", Page.folder + "nothing.js", Page.folder, "/page/"] {
      #expect(try await fixture.get(path).status == 404, "\(path)")
    }
  }
}
