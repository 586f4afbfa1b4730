import Feeds
import Market
import Testing

/// What holds for every source, whoever wrote it.
@Suite struct SourceRegistryTests {
  @Test func `no two sources share a name, a code or a worker's name`() {
    let all = SourceRegistry.all
    #expect(Set(all.map(\.name)).count == all.count)
    #expect(Set(all.map(\.workerName)).count == all.count)
    let series = SourceRegistry.series
    #expect(Set(series.map(\.source)).count == series.count)
    #expect(Set(series.map(\.name)).count == series.count)
  }

  @Test func `a source is found by its name and by its code`() {
    for series in SourceRegistry.series {
      #expect(Source(name: series.name) == series.source)
      #expect(series.source.name == series.name)
    }
    #expect(Source(name: "nobody") == nil)
    #expect(Source(rawValue: 999).name == "source_999")
  }

  @Test func `a list survives being stored by its name`() {
    for part in SourceRegistry.all.flatMap({ $0.lists?.parts ?? [] }) {
      #expect(ListPart(stored: part.name) == part)
      #expect(ListPart(stored: part.name + "/") == nil)
    }
    #expect(ListPart(stored: "HSLT") == nil)
  }

  @Test func `a source answers the requests of what it declares`() {
    for source in SourceRegistry.all {
      switch source.bars?.form {
      case .newest: #expect(source is any NewestBarSource)
      case .window: #expect(source is any BarSource)
      case nil: break
      }
      guard let lists = source.lists else { continue }
      if lists.pageRows == nil {
        #expect(source is any ListSource)
      } else {
        #expect(source is any PagedListSource)
      }
    }
  }

  @Test func `every setting of a source stands in its own section`() {
    for source in SourceRegistry.all {
      for declaration in source.settings.declarations {
        #expect(declaration.key.hasPrefix(source.name + "."))
      }
    }
  }
}
