// The figures of a quote and its five levels, changed in place.

import * as format from "./format.js";
import { element, setText } from "./element.js";
import { text } from "./texts.js";

const levels = 5;
const price = (field) => (stock) => format.price(stock[field], stock.kind);
const figures = [
  { key: "open", of: price("openPrice") },
  { key: "previousClose", of: price("previousClose") },
  { key: "high", of: price("highPrice") },
  { key: "low", of: price("lowPrice") },
  { key: "volume", of: (stock) => format.compact(stock.volume) },
  { key: "turnover", of: (stock) => format.compact(stock.turnover) },
  { key: "limitUp", of: price("limitUp") },
  { key: "limitDown", of: price("limitDown") },
];

// Where the price lies between two others: a picture of a distance, without computing one.
class RangeBar {
  constructor(key, low, high) {
    Object.assign(this, { low, high });
    this.knob = element("span", { class: "knob" });
    this.lowText = element("span");
    this.highText = element("span", { class: "end" });
    this.node = element("div", { class: "range" },
      element("span", { class: "range-name muted" }, text(key)),
      element("span", { class: "track" }, this.knob), this.lowText, this.highText);
  }

  show(stock) {
    const share = format.share(stock.currentPrice, stock[this.low], stock[this.high]);
    this.node.hidden = share === null;
    if (share === null) return;
    this.knob.style.left = `${(share * 100).toFixed(2)}%`;
    setText(this.lowText, format.price(stock[this.low], stock.kind));
    setText(this.highText, format.price(stock[this.high], stock.kind));
  }
}

export class QuoteFigures {
  constructor() {
    this.cells = figures.map(() => element("dd"));
    this.ranges = [
      new RangeBar("dayRange", "lowPrice", "highPrice"),
      new RangeBar("limitRange", "limitDown", "limitUp"),
      new RangeBar("yearRange", "yearLow", "yearHigh"),
    ];
    this.node = element("div", { class: "card-body" },
      element("dl", { class: "figures" }, figures.map(
        ({ key }, index) => [element("dt", {}, text(key)), this.cells[index]]).flat()),
      this.ranges.map(({ node }) => node));
  }

  show(stock) {
    figures.forEach(({ of }, index) => setText(this.cells[index], of(stock)));
    this.ranges.forEach((range) => range.show(stock));
  }
}

export class OrderBook {
  constructor() {
    const row = (side, number) => {
      const cells = {
        bar: element("span", { class: "depth" }), price: element("td", { class: "figure" }),
        volume: element("td", { class: "figure" }),
      };
      cells.volumeText = element("span", { class: "depth-text" });
      cells.volume.append(cells.bar, cells.volumeText);
      cells.node = element("tr", { class: side },
        element("th", { scope: "row" }, `${text(side)} ${number}`), cells.price, cells.volume);
      return cells;
    };
    const numbers = Array.from({ length: levels }, (_, index) => index + 1);
    this.asks = numbers.map((number) => row("ask", number));
    this.bids = numbers.map((number) => row("bid", number));
    this.node = element("table", { class: "book" },
      element("thead", { class: "unseen" }, element("tr", {}, ["name", "price", "volume"].map(
        (key) => element("th", { scope: "col" }, text(key))))),
      element("tbody", {}, [...this.asks].reverse().map(({ node }) => node)),
      element("tbody", {}, this.bids.map(({ node }) => node)));
  }

  show(stock) {
    const { bids = [], asks = [] } = stock;
    const largest = Math.max(...[...bids, ...asks].map(({ volume }) => +volume), 1);
    const fill = (rows, side) => rows.forEach((row, index) => {
      const level = side[index];
      setText(row.price, level ? format.price(level.price, stock.kind) : format.nothing);
      setText(row.volumeText, level ? format.whole(level.volume) : "");
      row.bar.style.width = level ? `${((+level.volume / largest) * 100).toFixed(1)}%` : "0";
      row.price.dataset.direction = level ? directionOf(level.price, stock.previousClose) : "flat";
    });
    fill(this.bids, bids);
    fill(this.asks, asks);
  }
}

const directionOf = (one, other) => (+one > +other ? "rising" : +one < +other ? "falling" : "flat");
