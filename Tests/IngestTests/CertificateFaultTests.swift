import Market
import TestSupport
import Testing

@testable import Ingest
@testable import Transport

@Suite struct CertificateFaultTests {
  private static let now = Timestamp(seconds: 1_783_303_200)

  private func source(
    _ code: TransportError.Code?, successSeconds: Int64 = -60
  ) -> SourceReport {
    var source = SourceReport(source: .sina, endpoint: "quotes")
    source.fault = code.map { SourceFault(.transport($0), host: "a.example", since: Self.now) }
    source.lastSuccessAt = Self.now.adding(seconds: successSeconds)
    return source
  }

  private func areRefused(_ sources: [SourceReport]) -> Bool {
    var report = EngineReport(
      now: Self.now, status: EngineStatus(), counters: PipelineCounters())
    report.sources = sources
    return report.areCertificatesRefused
  }

  @Test func `the fault is ours when no host proves who it is, and none was well since`() {
    #expect(areRefused([source(.certificate), source(.certificate)]))
    #expect(areRefused([source(.certificate), source(nil)]))
    #expect(!areRefused([source(.certificate), source(nil, successSeconds: 1)]))
    #expect(!areRefused([source(.certificate), source(.timeout)]))
    #expect(!areRefused([source(.tls)]))
    #expect(!areRefused([]))
  }

  @Test func `after a certificate that is not valid a host is left alone for a minute`() {
    for code in TransportError.Code.allCases {
      let failed = UpstreamResponse.failure(TransportError(code, route: "r"))
      #expect(failed.retryAfterSeconds(at: Self.now) == (code == .certificate ? 60 : nil))
    }
  }
}
