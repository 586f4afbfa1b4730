/// How a chart looks: its size, its colours, and whether prices are candles or a line. Colours are
/// rules of a style sheet inside the picture, so that one picture serves light and dark.

package struct ChartStyle: Sendable, Hashable {
  package enum Theme: String, Sendable, CaseIterable {
    case light, dark
    /// As the reader's system has it.
    case auto
  }

  /// The colour of prices that rise; those that fall have the other.
  package enum Rising: String, Sendable, CaseIterable {
    case red, green
  }

  package enum Shape: Sendable, Hashable {
    case candles
    /// The closes.
    case line
  }

  /// In pixels.
  package var width = 800
  package var height = 400
  package var theme = Theme.auto
  package var rising = Rising.red
  package var shape = Shape.candles

  /// Below these the axes leave no room for candles; above these a picture is a poster.
  package static let widths = 160...4_000
  package static let heights = 100...4_000

  package init() {}
}

extension ChartStyle {
  /// The colours of the page.
  private struct Palette {
    let background, text, muted, grid, accent, vwap, red, green, warning, gap, gapText: String

    static let light = Palette(
      background: "#fff", text: "#14181f", muted: "#5b6472", grid: "#e6e9ed", accent: "#2459d3",
      vwap: "#8a4bd6", red: "#cc1f2d", green: "#08783e", warning: "#9a5b00", gap: "#f7ecd8",
      gapText: "#7d4a00")
    static let dark = Palette(
      background: "#14181f", text: "#e7eaf0", muted: "#929cab", grid: "#262d38", accent: "#7aa2ff",
      vwap: "#c49bff", red: "#ff6464", green: "#35c27c", warning: "#f0b13c", gap: "#33290f",
      gapText: "#e7b75a")
  }

  /// The content of the element `style`.
  var rules: String {
    let shared =
      "text{font:11px system-ui,sans-serif}.h{font-size:13px;font-weight:600}"
      + "path{fill:none}.l,.w{stroke-linejoin:round}.n,.m,.i{stroke-linecap:round}"
      + ".v{stroke-opacity:.4}.e{stroke-dasharray:4 4}.k{text-anchor:middle}"
    return switch theme {
    case .light: shared + rules(of: .light)
    case .dark: shared + rules(of: .dark)
    case .auto:
      shared + rules(of: .light) + "@media(prefers-color-scheme:dark){\(rules(of: .dark))}"
    }
  }

  private func rules(of palette: Palette) -> String {
    let (up, down) =
      rising == .red ? (palette.red, palette.green) : (palette.green, palette.red)
    return
      ".b{fill:\(palette.background)}.i{stroke:\(palette.background)}"
      + "text{fill:\(palette.muted)}.h{fill:\(palette.text)}.o{fill:\(palette.background)}"
      + ".g{stroke:\(palette.grid)}.a{stroke:\(palette.muted)}"
      + ".u{stroke:\(up)}.d{stroke:\(down)}.U{fill:\(up)}.D{fill:\(down)}"
      + ".l,.n{stroke:\(palette.accent)}.w{stroke:\(palette.vwap)}"
      + ".m{stroke:\(palette.warning)}.M{fill:\(palette.warning)}"
      + ".p{fill:\(palette.gap)}.q{fill:\(palette.gapText)}"
  }
}
