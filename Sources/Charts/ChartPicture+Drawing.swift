/// Draws the parts of a chart, from the back to the front. Candles of a colour are one path, and
/// bars are strokes: half the bytes of rectangles.

import Market

extension ChartPicture {
  func svg() -> [UInt8] {
    let (width, height) = (chart.style.width, chart.style.height)
    var text = SVGText(capacity: 2_048 + columns.drawn.count * 48)
    text.append(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
        + "viewBox=\"0 0 \(width) \(height)\" role=\"img\"><title>")
    text.append(text: chart.title)
    text.append("</title><desc>")
    text.append(text: chart.summary)
    text.append("</desc><style>\(chart.style.rules)</style>")
    text.append("<rect class=\"b\" width=\"\(width)\" height=\"\(height)\"/>")
    writeHeading(to: &text)
    guard !chart.isEmpty else {
      text.append(text: "no candles", class: "k", x: width / 2, y: height / 2)
      text.append("</svg>\n")
      return text.bytes
    }
    writeGrid(to: &text)
    writeGaps(to: &text)
    writeLevels(to: &text)
    writeColumns(to: &text)
    writeLast(to: &text)
    text.append("</svg>\n")
    return text.bytes
  }

  /// Who, how long a candle is, the last price and what it changed, as far as there is room.
  private func writeHeading(to text: inout SVGText) {
    var parts = [chart.heading, chart.timeframe.name]
    if let close = chart.candles.last?.close {
      if let last = chart.candles.last { parts.append("\(last.tradingDay)") }
      parts.append(close.description)
      if let previous = chart.previousClose, let change = close.change(from: previous) {
        parts.append(change)
      }
    }
    while parts.count > 1, Self.width(of: parts) > chart.style.width { parts.removeLast() }
    text.append(text: parts.joined(separator: " · "), class: "h", x: plot.left, y: 17)
  }

  /// About: a Chinese character is as wide as it is high.
  private static func width(of parts: [String]) -> Int {
    parts.reduce(0) { $0 + 20 + $1.unicodeScalars.reduce(0) { $0 + ($1.isASCII ? 8 : 13) } }
  }

  // MARK: Behind the candles

  private struct Band {
    var places: ClosedRange<Int>
    let cause: String
  }

  /// Trading that was not seen, over the whole height, with its cause.
  private func writeGaps(to text: inout SVGText) {
    let isMerged = columns.count < timeAxis.count
    for band in bands {
      let (first, last) = (band.places.lowerBound, band.places.upperBound)
      let left = isMerged ? x(of: first) : edge(ofSlot: first)
      let width = max((isMerged ? x(of: last) + 1 : edge(ofSlot: last + 1)) - left, 1)
      text.append(
        "<rect class=\"p\" x=\"\(left)\" y=\"\(plot.top)\" width=\"\(width)\" "
          + "height=\"\(chart.style.height - Self.timesHeight - plot.top)\">"
          + "<title>\(band.cause)</title></rect>")
      if band.cause.count * 6 + 8 <= width {
        text.append(text: band.cause, class: "q", x: left + 4, y: plot.top + 13)
      }
    }
  }

  /// Those that touch are one, if they have the same cause.
  private var bands: [Band] {
    var bands: [Band] = []
    for gap in chart.gaps {
      guard let slots = timeAxis.slots(of: gap) else { continue }
      let places =
        columns.place(ofSlot: slots.lowerBound)...columns.place(ofSlot: slots.upperBound - 1)
      let cause = gap.cause.name.map { $0 == "_" ? " " : String($0) }.joined()
      if let last = bands.last, last.cause == cause,
        places.lowerBound <= last.places.upperBound + 1
      {
        let upper = max(last.places.upperBound, places.upperBound)
        bands[bands.count - 1].places = last.places.lowerBound...upper
      } else {
        bands.append(Band(places: places, cause: cause))
      }
    }
    return bands
  }

  private static let pixelsPerTime = 66

  private func writeGrid(to text: inout SVGText) {
    let bottom = chart.style.height - Self.timesHeight
    let ticks = timeAxis.ticks(countMax: plot.width / Self.pixelsPerTime)
    var (rows, lines) = (SVGPath(), SVGPath())
    for tick in priceAxis.ticks {
      rows.addLine(fromX: plot.left, y: priceAxis.y(tick), width: plot.width)
    }
    for tick in ticks where tick.slot > 0 && !timeAxis.isCentred {
      lines.addBar(x: edge(ofSlot: tick.slot), y: plot.top, height: bottom - plot.top)
    }
    rows.addLine(fromX: plot.left, y: bottom, width: plot.width)
    text.append("<g transform=\"translate(0 .5)\">")
    text.append(rows, class: "g")
    text.append("</g><g transform=\"translate(.5)\">")
    text.append(lines, class: "g")
    text.append("</g>")
    for tick in ticks {
      let half = tick.text.count * 3 + 2
      let middle =
        timeAxis.isCentred
        ? x(of: columns.place(ofSlot: tick.slot)) : edge(ofSlot: tick.slot)
      let x = min(max(middle, plot.left + half), plot.right - half)
      text.append(text: tick.text, class: "k", x: x, y: bottom + 15)
    }
    let written = labelledLevels.map(\.y) + [lastY].compactMap(\.self)
    for tick in priceAxis.ticks {
      let y = priceAxis.y(tick)
      if written.contains(where: { abs($0 - y) < 13 }) { continue }
      text.append(text: priceAxis.label(tick), class: "", x: plot.right + 6, y: y + 4)
    }
  }

  private struct Level {
    let y: Int
    let names: String
    let text: String
  }

  /// Limit prices, where the prices come near them.
  private var labelledLevels: [Level] {
    guard let band = chart.band else { return [] }
    return [(band.upper, "u"), (band.lower, "d")].compactMap { price, name in
      let units = values.prices.units(price)
      guard priceAxis.contains(units) else { return nil }
      return Level(y: priceAxis.y(units), names: name, text: price.description)
    }
  }

  private func writeLevels(to text: inout SVGText) {
    text.append("<g transform=\"translate(0 .5)\">")
    if let previous = chart.previousClose {
      var line = SVGPath()
      line.addLine(
        fromX: plot.left, y: priceAxis.y(values.prices.units(previous)), width: plot.width)
      text.append(line, class: "a e", title: "previous close \(previous)")
    }
    for level in labelledLevels {
      var line = SVGPath()
      line.addLine(fromX: plot.left, y: level.y, width: plot.width)
      text.append(line, class: "\(level.names) e", title: "limit \(level.text)")
    }
    text.append("</g>")
    for level in labelledLevels where lastY.map({ abs($0 - level.y) >= 13 }) ?? true {
      text.append(
        text: level.text, class: level.names.uppercased(), x: plot.right + 6, y: level.y + 4)
    }
  }

  // MARK: Candles

  private func writeColumns(to text: inout SVGText) {
    let scale = priceAxis.scale
    text.append(
      "<g transform=\"translate(.5)\" data-low=\"\(scale.value(priceAxis.low))\" "
        + "data-high=\"\(scale.value(priceAxis.high))\" data-top=\"\(plot.top)\" "
        + "data-bottom=\"\(plot.bottom)\">")
    writeVolume(to: &text)
    if chart.style.shape == .candles {
      writeCandles(to: &text)
    } else {
      text.append(path { $0.hasPrices ? $0.close : nil }, class: "l")
    }
    text.append(path(breaksAtDays: true, of: \.average), class: "w", title: "mean of the day")
    writeMarks(to: &text)
    text.append("</g>")
  }

  private func writeVolume(to text: inout SVGText) {
    guard volume.height > 0 else { return }
    let most = max(columns.volumeMax, 1)
    // So that it can be multiplied with a height.
    let shift = max(Int64.bitWidth - most.leadingZeroBitCount - Self.volumeBitsMax, 0)
    var (rising, falling) = (SVGPath(), SVGPath())
    for column in columns.drawn where column.volume > 0 {
      let share = Int(min(column.volume, most) >> shift) * volume.height
      let height = max(share / Int(most >> shift), 1)
      let (x, y) = (x(of: column.place), volume.bottom - height)
      if column.isRising {
        rising.addBar(x: x, y: y, height: height)
      } else {
        falling.addBar(x: x, y: y, height: height)
      }
    }
    text.append(rising, class: "u v", strokeWidth: bodyWidth)
    text.append(falling, class: "d v", strokeWidth: bodyWidth)
  }

  private static let volumeBitsMax = 40

  private func writeCandles(to text: inout SVGText) {
    for isRising in [true, false] {
      var (wicks, bodies) = (SVGPath(), SVGPath())
      for column in columns.drawn where column.hasPrices && column.isRising == isRising {
        let x = x(of: column.place)
        let (high, low) = (priceAxis.y(column.high), priceAxis.y(column.low))
        let (open, close) = (priceAxis.y(column.open), priceAxis.y(column.close))
        let body = (top: min(open, close), height: max(abs(open - close), 1))
        let isWickSeen = high < body.top || low + 1 > body.top + body.height || bodyWidth == 1
        if isWickSeen { wicks.addBar(x: x, y: high, height: low - high + 1) }
        if bodyWidth > 1 { bodies.addBar(x: x, y: body.top, height: body.height) }
      }
      text.append(wicks, class: isRising ? "u" : "d")
      text.append(bodies, class: isRising ? "u" : "d", strokeWidth: bodyWidth)
    }
  }

  /// A line through values; missing ones leave a hole.
  private func path(
    breaksAtDays: Bool = false, of value: (ChartColumn) -> Int64?
  ) -> SVGPath {
    var path = SVGPath()
    var last: (column: ChartColumn, x: Int, y: Int)?
    for column in columns.drawn {
      guard let units = value(column) else { continue }
      let (x, y) = (x(of: column.place), priceAxis.y(units))
      if let last, last.column.place + 1 == column.place,
        !breaksAtDays || last.column.day == column.day
      {
        path.line(byX: x - last.x, y: y - last.y)
      } else {
        path.move(x: x, y: y)
      }
      last = (column, x, y)
    }
    return path
  }

  /// A dot above, of a revision; below, a ring where a candle was seen in part, and a triangle
  /// where its extremes may belong to a neighbour.
  private func writeMarks(to text: inout SVGText) {
    var (dots, rings, triangles) = (SVGPath(), SVGPath(), SVGPath())
    for column in columns.drawn where column.hasPrices {
      let x = x(of: column.place)
      let isLine = chart.style.shape == .line
      let top = priceAxis.y(isLine ? column.close : column.high)
      let bottom = priceAxis.y(isLine ? column.close : column.low)
      if column.isRevised { dots.addDot(x: x, y: max(top - 7, plot.top + 3)) }
      let isAmbiguous = column.flags.contains(.extremeAmbiguous)
      if isAmbiguous { triangles.addTriangle(x: x, y: min(bottom + 5, plot.bottom - 6)) }
      if column.flags.contains(.partial) {
        rings.addDot(x: x, y: min(bottom + (isAmbiguous ? 16 : 9), plot.bottom - 3))
      }
    }
    text.append(dots, class: "n", strokeWidth: 5, title: "revised")
    text.append(rings, class: "m", strokeWidth: 7, title: "seen in part")
    text.append(rings, class: "i", strokeWidth: 3)
    text.append(triangles, class: "M", title: "extremes may belong to a neighbour")
  }

  private var lastY: Int? {
    columns.drawn.last { $0.hasPrices }.map { priceAxis.y($0.close) }
  }

  /// The last price, on the axis.
  private func writeLast(to text: inout SVGText) {
    guard let last = columns.drawn.last(where: \.hasPrices), let y = lastY,
      let close = chart.candles.last(where: { $0.close != nil })?.close
    else { return }
    let width = chart.style.width - plot.right - 2
    text.append(
      "<rect class=\"\(last.isRising ? "U" : "D")\" x=\"\(plot.right + 2)\" y=\"\(y - 8)\" "
        + "width=\"\(width)\" height=\"17\"/>")
    text.append(text: close.description, class: "o", x: plot.right + 6, y: y + 5)
  }
}

extension ExactDecimal {
  /// `+0.32 +1.20%`
  fileprivate func change(from previous: ExactDecimal) -> String? {
    guard let change = try? self - previous, let percent = percentChange(from: previous) else {
      return nil
    }
    let sign = change.isNegative ? "" : "+"
    return "\(sign)\(change) \(sign)\(percent)%"
  }
}
