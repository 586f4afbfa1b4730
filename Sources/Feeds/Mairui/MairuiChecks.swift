/// What candled counts on of Mairui's service (docs/sources/mairui.md#lists).

import Market

extension Mairui {
  package var checks: [SourceCheck] {
    [
      SourceCheck.credentials { _ in .list(MairuiBoard.hslt.part) },
      // 5,208 rows in June 2026.
      SourceCheck.list(
        MairuiBoard.hslt.part, sizes: 4_500...8_000, known: ["sh600519", "sz000001", "sz300750"]),
      SourceCheck.list(MairuiBoard.bj.part, sizes: 150...1_500, known: []),
    ]
  }
}
