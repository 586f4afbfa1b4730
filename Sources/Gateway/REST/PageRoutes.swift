/// The page at `/`, for whoever reaches the address: it holds no data, and asks the API for some as
/// any client does. No part of the API, so the OpenAPI document does not have it.

import HTTPTypes
import Page

enum PageRoutes {
  static let all = [
    Route(
      "/", summary: "The page for browsers.", scope: nil, answer: .string,
      contentType: Page.start.contentType, isAPI: false
    ) { _ in start }.costing(0),
    Route(
      "/page/{version}/{file}", summary: "What the page is made of.", scope: nil,
      parameters: [version, file], answer: .string, contentType: "text/javascript",
      problems: [.notFound], isAPI: false
    ) { arguments in
      guard arguments["version"] == Page.version, let file = files[arguments["file"] ?? ""]
      else { throw Problem.notFound }
      return file
    }.costing(0),
  ]

  private static let version = Parameter(
    "version", .text(charactersMax: 32), in: .path, summary: "Of all files together.")
  private static let file = Parameter(
    "file", .text(charactersMax: 64), in: .path, summary: "Its name.")

  /// Nothing but what the gateway itself serves: no script, style or picture of another place or of
  /// the document, no frame around it.
  private static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

  /// What the page never asks a browser for. No window of another place that opened the page, or
  /// was opened by it, can reach it.
  private static let others: [(name: String, value: String)] = [
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
  ]

  private static let start = answer(Page.start, caching: "no-cache")
  private static let files = Page.files.mapValues {
    answer($0, caching: "public, max-age=31536000, immutable")
  }

  private static func answer(_ file: PageFile, caching: String) -> Answer {
    var answer = Answer(
      json: file.bytes, tag: Page.version, caching: caching, contentType: file.contentType)
    answer.headers[.contentSecurityPolicy] = policy
    for (name, value) in others { HTTPField.Name(name).map { answer.headers[$0] = value } }
    return answer.kept()
  }
}
