// A chart on two canvases: candles below, the crosshair above, so that the pointer moves without
// redrawing candles. It knows nothing of the gateway: it is given a series and shows it.

import { CandleSeries } from "./chart-series.js";
import { ChartInput } from "./chart-input.js";
import { ChartView, priceTicks, timeTicks } from "./chart-view.js";
import { Columns, PriceScale, makeLayout, noColumn } from "./chart-layout.js";
import * as draw from "./chart-draw.js";

const colourNames = {
  background: "--surface", text: "--text", muted: "--muted", grid: "--grid", border: "--line",
  rising: "--rising", falling: "--falling", risingVolume: "--rising-volume",
  fallingVolume: "--falling-volume", accent: "--accent", warning: "--warning", gap: "--gap",
  gapLine: "--gap-line", gapText: "--gap-text", crosshair: "--crosshair", vwap: "--vwap",
  onColour: "--on-colour",
};
const priceTickGap = 48;
const timeTickGap = 64;
const markDistance = 8;

export class Chart {
  // `host` is an element with a size; it takes the keyboard. `events` may have onHover(row),
  // onSelect({ row, gaps }) and onView().
  constructor(host, events = {}) {
    this.host = host;
    this.events = events;
    this.base = host.appendChild(document.createElement("canvas"));
    this.overlay = host.appendChild(document.createElement("canvas"));
    for (const canvas of [this.base, this.overlay]) canvas.setAttribute("aria-hidden", "true");
    this.context = this.base.getContext("2d", { alpha: false });
    this.overlayContext = this.overlay.getContext("2d");
    this.options = { kind: "candles", hasVolume: true, hasVWAP: false, levels: [], cause: String };
    this.gaps = [];
    this.bands = [];
    this.series = null;
    this.view = new ChartView(0);
    this.hover = null;
    this.frame = 0;
    this.dirty = { base: false, overlay: false };
    this.input = new ChartInput(this);
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(host);
  }

  close() {
    this.resizing.disconnect();
    cancelAnimationFrame(this.frame);
    this.input.close();
  }

  refreshColours() {
    // A canvas takes colours that are worked out; an element works them out.
    const probe = this.host.appendChild(document.createElement("span"));
    this.colours = Object.fromEntries(Object.entries(colourNames).map(([name, property]) => {
      probe.style.color = `var(${property})`;
      return [name, getComputedStyle(probe).color];
    }));
    probe.remove();
    this.redraw();
  }

  setOptions(options) {
    Object.assign(this.options, options);
    this.resize();
  }

  // `keepsView` for the same stretch of time in more detail, or as it was known at another moment.
  setSeries(series, { keepsView = false } = {}) {
    const { view } = this;
    const [first, span] = [view.first / view.slotCount, view.span / view.slotCount];
    const keeps = keepsView && view.slotCount > 0 && !view.isWhole;
    this.series = series;
    this.view = new ChartView(series.slotCount);
    if (keeps) {
      this.view.zoom(span);
      this.view.first = first * series.slotCount;
      this.view.clamp();
    }
    this.setHover(null);
    this.redraw();
  }

  setGaps(gaps) {
    this.gaps = gaps;
    this.redraw();
  }

  // A candle that is new or has changed. Returns whether anything did.
  put(candle) {
    if (!this.series || this.series.put(candle) === null) return false;
    if (this.series.slotCount !== this.view.slotCount) this.view.resize(this.series.slotCount);
    this.redraw();
    return true;
  }

  redraw() {
    this.dirty.base = true;
    this.redrawOverlay();
  }

  redrawOverlay() {
    this.dirty.overlay = true;
    this.frame ||= requestAnimationFrame(() => this.drawNow());
  }

  resize() {
    // Colours and sizes are those of the document: before the host is in it, nothing is drawn.
    if (!this.host.isConnected) return;
    if (!this.colours) this.refreshColours();
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(Math.round(this.host.clientWidth * ratio), 1);
    const height = Math.max(Math.round(this.host.clientHeight * ratio), 1);
    for (const canvas of [this.base, this.overlay]) {
      if (canvas.width !== width) canvas.width = width;
      if (canvas.height !== height) canvas.height = height;
    }
    this.layout = makeLayout(width, height, ratio, this.options.hasVolume);
    this.redraw();
  }

  // Draws what has changed, at once; drawn frames call it.
  drawNow() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    if (!this.layout) this.resize();
    if (!this.layout) return;
    const begun = performance.now();
    if (this.dirty.base) this.drawBase();
    this.drawOverlay();
    this.dirty = { base: false, overlay: false };
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.drawMilliseconds = performance.now() - begun;
  }

  prepare() {
    const { series, view, layout } = this;
    this.columns = new Columns(series, view, layout.plot);
    const range = this.columns.range();
    this.volumeMax = this.columns.volumeMax();
    this.scale = new PriceScale(range, layout.plot);
    this.prices = priceTicks(
      this.scale.low, this.scale.high, layout.plot.height / (priceTickGap * layout.ratio));
    const gap = (timeTickGap * layout.ratio) / this.columns.step;
    const key = [view.first, view.span, view.slotCount, gap, series.days.length].join();
    if (this.timesKey !== key || this.timesSeries !== series) {
      this.times = timeTicks(series, view, gap);
      this.timesKey = key;
      this.timesSeries = series;
    }
    this.bands = this.makeBands();
    this.marks = this.makeMarks();
  }

  drawBase() {
    const { context, layout, colours, series, options } = this;
    context.fillStyle = colours.background;
    context.fillRect(0, 0, layout.width, layout.height);
    if (!series) return;
    this.prepare();
    const { columns, scale } = this;
    draw.drawGrid(context, this);
    context.save();
    context.beginPath();
    context.rect(layout.plot.left, 0, layout.plot.width, layout.axisTop);
    context.clip();
    draw.drawBands(context, this);
    if (options.hasVolume) draw.drawVolume(context, this);
    if (options.kind === "line") this.drawLinePlot();
    else draw.drawCandles(context, this);
    if (options.hasVWAP) {
      const values = columns.last.map((row) => series.value("vwap", row));
      draw.drawLine(context, { columns, scale, values, layout, colour: colours.vwap, width: 1.25 });
    }
    draw.drawMarks(context, this);
    context.restore();
    const last = this.lastPriced();
    const levels = options.levels.map(({ value }) => value).concat(last ? [last.close] : []);
    this.tags = levels.map((value) => scale.y(value));
    draw.drawAxes(context, this);
    const room = draw.tagHeight * layout.ratio;
    for (const level of options.levels) {
      // The newest price's tag comes first where two would cover each other.
      const isFree = !last || Math.abs(scale.y(level.value) - scale.y(last.close)) >= room;
      draw.drawLevel(context, {
        level: isFree ? level : { value: level.value }, scale, layout,
        colour: colours[level.colour] ?? colours.muted, textColour: colours.onColour,
      });
    }
    if (last) this.drawLast(last);
  }

  // The line has the colour of its direction. While one scrubs, the month below keeps its colour
  // and the others fade.
  drawLinePlot() {
    const { context, columns, scale, layout, colours } = this;
    const values = columns.close;
    const priced = values.filter((value) => !Number.isNaN(value));
    const colour = priced.at(-1) >= priced[0] ? colours.rising : colours.falling;
    const month = this.hover ? this.monthAt(this.series.slots[this.hover.row]) : null;
    const lit = month && this.series.months.length > 1 ? this.columnsWithin(month) : null;
    draw.drawArea(context, { columns, scale, values, colour, layout });
    draw.drawLine(context, { columns, scale, values, colour, layout, width: 1.75, lit });
  }

  // The last row that has a price.
  lastPriced() {
    const { series } = this;
    let row = series.length - 1;
    while (row >= 0 && Number.isNaN(series.value("close", row))) row -= 1;
    return row < 0 ? null : { row, close: series.value("close", row) };
  }

  drawLast({ row, close }) {
    const { columns, scale, layout, colours, context } = this;
    const column = columns.holding(row);
    const isRising = column === noColumn || columns.close[column] >= columns.open[column];
    const colour = isRising ? colours.rising : colours.falling;
    const level = { value: close, text: close.toFixed(this.prices.places) };
    draw.drawLevel(context, { level, scale, layout, colour, textColour: colours.onColour });
  }

  drawOverlay() {
    const { overlayContext: context, layout, hover, columns } = this;
    context.clearRect(0, 0, layout.width, layout.height);
    if (!hover || !columns) return;
    const column = columns.holding(hover.row);
    if (column === noColumn) return;
    const x = columns.left[column] + (columns.width >> 1);
    const wall = this.series.wallTime(this.series.slots[hover.row]);
    const isDaily = !/m$/.test(this.series.interval);
    draw.drawCrosshair(context, {
      layout, x, y: hover.y, colours: this.colours,
      priceText: hover.y === null ? "" : this.scale.price(hover.y).toFixed(this.prices.places),
      timeText: isDaily ? wall.day : `${wall.day.slice(5)} ${wall.time}`,
    });
  }

  setHover(hover) {
    if (hover?.row === this.hover?.row && hover?.y === this.hover?.y) return;
    const slot = (row) => (row === undefined ? null : this.series?.slots[row] ?? null);
    const before = this.options.kind === "line" ? this.monthAt(slot(this.hover?.row)) : null;
    this.hover = hover;
    if (this.options.kind === "line" && this.monthAt(slot(hover?.row)) !== before) this.redraw();
    else this.redrawOverlay();
    this.events.onHover?.(hover?.row ?? null);
  }

  select(row, slot = this.series.slots[row]) {
    const gaps = this.bands.filter((band) => slot >= band.first && slot < band.end)
      .flatMap((band) => band.gaps);
    this.events.onSelect?.({ row, gaps });
  }

  // The month of a slot: { label, slot, end }, found by binary search.
  monthAt(slot) {
    if (slot === null) return null;
    const { months } = this.series;
    let [low, high] = [0, months.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (months[middle].slot <= slot) low = middle + 1;
      else high = middle;
    }
    return months[low - 1] ?? null;
  }

  columnsWithin(month) {
    const { slots, months, slotCount } = this.series;
    const next = months[months.indexOf(month) + 1]?.slot ?? slotCount;
    const within = this.columns.first
      .map((row, column) => (slots[row] >= month.slot && slots[row] < next ? column : noColumn))
      .filter((column) => column !== noColumn);
    return { from: within[0] ?? 0, to: (within.at(-1) ?? -1) + 1 };
  }

  makeBands() {
    const { series, view, layout, columns } = this;
    const bands = new Map();
    for (const gap of this.gaps) {
      const slots = series.slotsWithin(gap);
      if (!slots || slots[1] <= view.first || slots[0] >= view.end) continue;
      const key = slots.join();
      const band = bands.get(key);
      if (band) {
        band.gaps.push(gap);
        continue;
      }
      const x = (slot) => layout.plot.left + Math.round((slot - view.first) * columns.step);
      const left = Math.max(x(slots[0]), layout.plot.left);
      const right = Math.min(x(slots[1]), layout.plot.left + layout.plot.width);
      bands.set(key, {
        first: slots[0], end: slots[1], left, width: Math.max(right - left, layout.ratio),
        label: this.options.cause(gap.cause), gaps: [gap],
      });
    }
    return [...bands.values()];
  }

  makeMarks() {
    const { series, columns, scale, layout } = this;
    const { flags, revision } = series.text;
    const distance = markDistance * layout.ratio;
    const marks = [];
    const add = (kind, row, column, y) => {
      const x = columns.left[column] + (columns.width >> 1);
      marks.push({ kind, row, x, y });
    };
    for (let column = 0; column < columns.count; column += 1) {
      if (!columns.hasPrice(column)) continue;
      const kinds = new Map();
      for (let row = columns.first[column]; row <= columns.last[column]; row += 1) {
        if (revision[row] > 0) kinds.set("revision", row);
        if (!flags[row]?.length) continue;
        if (flags[row].includes("partial")) kinds.set("partial", row);
        if (flags[row].includes("extreme_ambiguous")) kinds.set("ambiguous", row);
      }
      let below = scale.y(columns.low[column]) + distance;
      for (const [kind, row] of kinds) {
        if (kind === "revision") {
          add(kind, row, column, scale.y(columns.high[column]) - distance);
        } else {
          add(kind, row, column, below);
          below += distance;
        }
      }
    }
    return marks;
  }

  // What is drawn, in CSS pixels, for tests to compare with the gateway's answers.
  geometry() {
    this.redraw();
    this.drawNow();
    const { columns, scale, series, layout } = this;
    if (!series) return null;
    const { ratio, plot } = layout;
    const candles = Array.from({ length: columns.count }, (_, column) => ({
      openedAt: series.text.openedAt[columns.first[column]],
      slot: series.slots[columns.first[column]],
      rows: columns.last[column] - columns.first[column] + 1,
      x: columns.left[column] / ratio,
      width: columns.width / ratio,
      open: scale.y(columns.open[column]) / ratio,
      high: scale.y(columns.high[column]) / ratio,
      low: scale.y(columns.low[column]) / ratio,
      close: scale.y(columns.close[column]) / ratio,
    }));
    const box = ({ left, top, width, height }) => (
      { left: left / ratio, top: top / ratio, width: width / ratio, height: height / ratio });
    return {
      symbol: series.symbol, interval: series.interval, isThinned: series.isThinned,
      slotCount: series.slotCount, rowCount: series.length, plot: box(plot),
      scale: { low: scale.low, high: scale.high },
      view: { first: this.view.first, span: this.view.span }, candles,
      bands: this.bands.map(({ left, width, label }) => (
        { left: left / ratio, width: width / ratio, label })),
      marks: this.marks.map(({ kind, row, x, y }) => (
        { kind, openedAt: series.text.openedAt[row], x: x / ratio, y: y / ratio })),
      times: this.times,
    };
  }
}

export { CandleSeries };
