import Glibc
import TestSupport
import Testing

@testable import Ingest

@Suite struct ZoneCheckTests {
  @Test func `the clock that is built in is the one of the time zone database`() {
    #expect(ZoneCheck.rule() == ZoneCheck.builtIn)
  }

  @Test func `another law is read from the end of a zone, and no zone is none`() throws {
    let path = try PrivateCluster.freshDirectory() + "/New_York"
    let file = try #require(fopen(path, "we"))
    fputs("TZif2\nEST5EDT,M3.2.0,M11.1.0\n more\nEDT4\n", file)
    fclose(file)
    #expect(ZoneCheck.rule(of: path) == "EDT4")
    #expect(ZoneCheck.rule(of: path + "s") == nil)
  }
}
