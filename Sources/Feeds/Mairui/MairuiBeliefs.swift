/// What candled counts on of Mairui's service (docs/sources/mairui.md#lists).

import Market

extension Mairui {
  package var beliefs: [Belief] {
    [
      Belief.credentials { _ in .list(MairuiBoard.hslt.part) },
      // 5,208 rows in June 2026.
      Belief.list(
        MairuiBoard.hslt.part, sizes: 4_500...8_000, known: ["sh600519", "sz000001", "sz300750"]),
      Belief.list(MairuiBoard.bj.part, sizes: 150...1_500, known: []),
    ]
  }
}
