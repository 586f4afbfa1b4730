// A table of stocks whose figures change in place. Columns are disclosed by the width of the table:
// the style sheet hides what has no room.

import * as format from "./format.js";
import { element, setText } from "./element.js";
import { text } from "./texts.js";

// With the name four; those with a level come as that column: 5 from 420 px on, 8 from 750 px on.
const columns = [
  { key: "price", of: (stock) => format.price(stock.currentPrice, stock.kind), isCoded: true },
  {
    key: "change", of: (stock) => format.signed(stock.change, stock.kind), isCoded: true,
    level: 5,
  },
  { key: "changePercent", of: (stock) => format.percent(stock.changePercent), isCoded: true },
  { key: "volume", of: (stock) => format.compact(stock.volume), level: 6 },
  { key: "turnover", of: (stock) => format.compact(stock.turnover) },
  { key: "high", of: (stock) => format.price(stock.highPrice, stock.kind), level: 7 },
  { key: "low", of: (stock) => format.price(stock.lowPrice, stock.kind), level: 8 },
];
const flashMilliseconds = 700;
const stillness = matchMedia("(prefers-reduced-motion: reduce)");
const levelClass = ({ level }) => (level ? `from-${level}` : "");

export class StockTable {
  // `decorate(row, stock)` may add to a row that has been updated.
  constructor({ label, decorate = null } = {}) {
    this.rows = new Map();
    this.decorate = decorate;
    this.body = element("tbody");
    const head = element("tr", {}, element("th", { scope: "col" }, text("name")),
      columns.map((column) => element(
        "th", { scope: "col", class: `figure ${levelClass(column)}` }, text(column.key))));
    this.node = element("div", { class: "table-box" }, element(
      "table", { class: "stocks", "aria-label": label }, element("thead", {}, head), this.body));
  }

  // Shows these, in this order; rows that stay are kept.
  show(stocks) {
    const kept = new Map();
    for (const stock of stocks) {
      const row = this.rows.get(stock.id) ?? this.makeRow(stock);
      kept.set(stock.id, row);
      this.fill(row, stock);
    }
    this.rows = kept;
    const nodes = [...kept.values()].map((row) => row.node);
    const isSame = nodes.length === this.body.children.length
      && nodes.every((node, index) => node === this.body.children[index]);
    if (!isSame) this.body.replaceChildren(...nodes);
  }

  // Newer figures of stocks; of those that are not shown nothing happens.
  update(stocks) {
    for (const stock of stocks) {
      const row = this.rows.get(stock.id);
      if (row) this.fill(row, stock);
    }
  }

  makeRow(stock) {
    const address = `#/stock/${stock.symbol}`;
    const name = element("a", { href: address, class: "stock-name" });
    const code = element("span", { class: "code" }, stock.symbol);
    const mark = element("span", { class: "mark" });
    const cells = columns.map((column) => element(
      "td", { class: `figure ${levelClass(column)}`, "data-column": column.key }));
    const node = element(
      "tr", { "data-symbol": stock.symbol, onclick: (event) => this.follow(event, address) },
      element("th", { scope: "row" }, name, element("span", { class: "code-line" }, code, mark)),
      cells);
    return { node, name, mark, cells, stock: null };
  }

  follow(event, address) {
    if (!event.target.closest("a, button, input, label")) location.hash = address;
  }

  fill(row, stock) {
    const before = row.stock;
    if (before && before.seq > stock.seq) return;
    row.stock = stock;
    setText(row.name, stock.name ?? stock.symbol);
    const direction = format.direction(stock.change);
    columns.forEach((column, index) => {
      const cell = row.cells[index];
      setText(cell, column.of(stock));
      if (column.isCoded) cell.dataset.direction = direction;
    });
    setText(row.mark, limitMark(stock));
    row.node.classList.toggle("stale", stock.stale === true);
    if (before && before.currentPrice !== stock.currentPrice) this.flash(row, before, stock);
    this.decorate?.(row, stock);
  }

  // A price that moved is lit for a moment, in the colour of its direction.
  flash(row, before, stock) {
    if (stillness.matches) return;
    const isUp = +stock.currentPrice > +before.currentPrice;
    const tint = isUp ? "var(--rising-tint)" : "var(--falling-tint)";
    row.cells[0].animate({ backgroundColor: [tint, "transparent"] }, flashMilliseconds);
  }
}

export function limitMark(stock) {
  if (stock.trading === "suspended") return text("suspended");
  if (format.isSame(stock.currentPrice, stock.limitUp)) return text("atLimitUp");
  if (format.isSame(stock.currentPrice, stock.limitDown)) return text("atLimitDown");
  return "";
}
