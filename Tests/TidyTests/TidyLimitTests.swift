import TestTraits
import Testing

@testable import candled_tidy

@Suite(.ownThread) struct TidyLimitTests {
  @Test(arguments: TidyLimit.all)
  func `the tree is no worse than the limit of today`(_ limit: TidyLimit) throws {
    let value = limit.value(try Measurement.ofTree())
    #expect(value <= limit.today, "\(limit.name): see script/tidy-report")
    #expect(limit.target <= limit.today, "\(limit.name) is better than its target: lower today")
  }

  @Test func `a parameter counts behind the first, and without a label by its underscore`() {
    let counted = Declarations(
      in: SourceText(
        """
        func a(_ b: Int, _ c: [Int: Int], d: (Int, Int) -> Int, _ e: Map<Int, Int> = f(1, 2)) {}
        init?<A, B>(_ a: A, _ b: B) { self.init(1, 2) }
        subscript(_ a: Int, b: Int) -> Int { g(a, _ = b) }
        static func < (left: A, right: A) -> Bool { left.init(1, 2) }
        """))
    #expect(counted.laterParameters == 5)
    #expect(counted.unlabelledParameters == 3)
  }

  @Test func `a property is stored unless static or computed`() {
    let counted = Declarations(
      in: SourceText(
        """
        public struct A: B {
          static let a = 1
          let b: Int
          var c = [1].map { $0 }
          var f: Int { c[0] }
          private(set) var d: Int { didSet { let x = d } }
          var e: Int { get { 1 } }
          @Option(help: "e") var g: String?
          lazy var h: Int = {
            let y = 1
            return y
          }()
          struct Inner {
            var i: Int
            func j() { var k: Int }
          }
          var l: Inner
        }
        extension A.Inner { var m: Int { 1 } }
        enum C { case let, d(e: Int); static var f: Int }
        """))
    #expect(counted.storedProperties == ["A": 6, "A.Inner": 1])
  }

  @Test func `a public belongs to the outermost type around it`() {
    let counted = Declarations(
      in: SourceText(
        """
        public import Glibc
        public struct A {
          public var b: Int
          public struct C { public init() {} }
        }
        extension D.E { public static func f() {} }
        public func g() {}
        """))
    #expect(counted.publicOwners == ["A", "A", "A", "A", "D", ""])
  }

  @Test func `the client's surface is its module and what it exports`() {
    let surface = ClientSurface([
      SourceFile(
        path: "Sources/CandledClient/A.swift",
        source: "@_exported import Market\n@_exported import struct Store.Row\nimport Postgres")
    ])
    #expect(surface.holds("", of: "CandledClient"))
    #expect(surface.holds("Quote", of: "Market"))
    #expect(surface.holds("Row", of: "Store"))
    #expect(!surface.holds("Table", of: "Store"))
    #expect(!surface.holds("Session", of: "Postgres"))
  }

  @Test func `a vendor is whoever has a folder among the feeds`() {
    let names = Vendor.all.map(\.name)
    #expect(Set(names).isSuperset(of: ["Sina", "Mairui", "Alpaca"]))
    #expect(Set(names).isDisjoint(with: ["Contract", "Text"]))
  }

  @Test(arguments: [
    ("Sources/Feeds/Sina/A.swift", 1), ("Sources/ExchangeSimulator/Alpaca/A.swift", 2),
    ("Sources/Feeds/SourceRegistry.swift", 0), ("Sources/Feeds/SinaQuotes.swift", 3),
  ])
  func `a vendor's name counts outside its own folder, comments apart`(_ path: String, count: Int) {
    let source = "let a = SinaQuotes()\nf(\"sina\") // mairui\nlet alpacaBars = 1\nlet b = 2"
    #expect(Vendor.lines(in: SourceFile(path: path, source: source)) == count)
  }

  @Test func `a percentile is the smallest value that so many do not exceed`() {
    #expect((1...10).map { $0 }.percentile(50) == 5)
    #expect((1...10).map { $0 }.percentile(90) == 9)
    #expect([7].percentile(100) == 7)
    #expect([].percentile(50) == 0)
  }
}
