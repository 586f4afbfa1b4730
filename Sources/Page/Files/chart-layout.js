// Places candles on pixels: which columns are drawn, where, and between which prices. All numbers
// are device pixels. What is computed here is what is drawn, and what the tests read.

export const noColumn = -1;

// Margins and sizes in CSS pixels.
const axisWidth = 64;
const axisHeight = 22;
const topMargin = 8;
const volumeShare = 0.18;
const volumeGap = 10;
// Above and below the extremes, as a share of the plot's height.
const priceMargin = 0.06;
// Of volumes, those that are not giants.
const usualShare = 0.98;

export function makeLayout(width, height, ratio, hasVolume) {
  const scaled = (length) => Math.round(length * ratio);
  const left = 0;
  const right = width - scaled(axisWidth);
  const bottom = height - scaled(axisHeight);
  const volumeHeight = hasVolume ? Math.round(bottom * volumeShare) : 0;
  const top = scaled(topMargin);
  const plotBottom = hasVolume ? bottom - volumeHeight - scaled(volumeGap) : bottom;
  return {
    ratio,
    width,
    height,
    plot: { left, top, width: Math.max(right - left, 1), height: Math.max(plotBottom - top, 1) },
    volume: { top: bottom - volumeHeight, height: volumeHeight },
    axisTop: bottom,
    axisLeft: right,
  };
}

// Candles of the window as columns of pixels. From one candle a pixel on, each has a column of its
// own; above that a column holds the highest and the lowest of the candles that fall on its pixel,
// the first's open and the last's close.
export class Columns {
  constructor(series, view, plot) {
    this.step = plot.width / view.span;
    const from = series.rowFrom(Math.floor(view.first));
    const to = series.rowFrom(Math.ceil(view.end));
    this.isMerged = this.step < 1;
    const spacing = Math.max(1, Math.round(this.step * 0.25));
    let width = this.isMerged ? 1 : Math.max(1, Math.floor(this.step) - spacing);
    // An odd width has a middle, for the wick.
    if (width > 2 && width % 2 === 0) width -= 1;
    this.width = width;
    this.firstRow = from;
    this.endRow = to;
    this.left = [];
    this.first = [];
    this.last = [];
    this.place(series, view, plot);
    this.measure(series);
  }

  get count() { return this.left.length; }

  place(series, view, plot) {
    const { slots } = series;
    const half = (this.width - 1) >> 1;
    let pixel = null;
    for (let row = this.firstRow; row < this.endRow; row += 1) {
      const middle = plot.left + Math.floor((slots[row] + 0.5 - view.first) * this.step);
      if (this.isMerged && middle === pixel) {
        this.last[this.last.length - 1] = row;
        continue;
      }
      pixel = middle;
      this.left.push(middle - half);
      this.first.push(row);
      this.last.push(row);
    }
  }

  // Where columns hold many candles, opens and closes are read of their edges alone.
  measure(series) {
    const [highs, lows, volumes] = ["high", "low", "volume"].map((name) => series.column(name));
    const count = this.count;
    for (const name of ["open", "high", "low", "close", "volume"]) this[name] = new Array(count);
    for (let column = 0; column < count; column += 1) {
      const last = this.last[column];
      let high = -Infinity;
      let low = Infinity;
      let volume = 0;
      let firstPriced = last + 1;
      let lastPriced = last;
      for (let row = this.first[column]; row <= last; row += 1) {
        volume += volumes[row];
        if (Number.isNaN(highs[row])) continue;
        if (highs[row] > high) high = highs[row];
        if (lows[row] < low) low = lows[row];
        if (firstPriced > last) firstPriced = row;
        lastPriced = row;
      }
      const isPriced = firstPriced <= last;
      this.open[column] = isPriced ? series.value("open", firstPriced) : NaN;
      this.close[column] = isPriced ? series.value("close", lastPriced) : NaN;
      this.high[column] = high;
      this.low[column] = low;
      this.volume[column] = volume;
    }
  }

  hasPrice(column) { return this.high[column] >= this.low[column]; }

  range() {
    let low = Infinity;
    let high = -Infinity;
    for (let column = 0; column < this.count; column += 1) {
      if (this.high[column] > high) high = this.high[column];
      if (this.low[column] < low) low = this.low[column];
    }
    return { low, high };
  }

  // What the highest bar stands for. The opening auction is a minute with the volume of an hour,
  // beside which all other bars would look alike: the rare giants are cut off.
  volumeMax() {
    const sorted = Float64Array.from(this.volume).sort();
    const usual = sorted[Math.floor(sorted.length * usualShare)] ?? 0;
    return Math.min(sorted.at(-1) ?? 0, usual * 1.25) || (sorted.at(-1) ?? 0);
  }

  // The column that holds a row, by binary search.
  holding(row) {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.last[middle] < row) low = middle + 1;
      else high = middle;
    }
    return low < this.count && this.first[low] <= row ? low : noColumn;
  }
}

// Prices to pixels and back.
export class PriceScale {
  constructor({ low, high }, plot) {
    const middle = Number.isFinite(low) ? low : 0;
    const isFlat = !(high > low);
    const spread = isFlat ? Math.max(Math.abs(middle) * 0.01, 0.01) : (high - low) * priceMargin;
    this.low = (Number.isFinite(low) ? low : 0) - spread;
    this.high = (Number.isFinite(high) ? high : 1) + spread;
    this.plot = plot;
  }

  y(price) {
    const share = (this.high - price) / (this.high - this.low);
    return Math.round(this.plot.top + share * this.plot.height);
  }

  price(y) {
    return this.high - ((y - this.plot.top) / this.plot.height) * (this.high - this.low);
  }
}
