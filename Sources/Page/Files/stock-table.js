// A table of stocks whose figures change in place. Columns are disclosed by the width of the table:
// the style sheet hides what has no room.

import * as format from "./format.js";
import { element, setText } from "./element.js";
import { text } from "./texts.js";

// With the name four; those with a level come as that column: 5 from 420 px on, 8 from 750 px on.
const price = (text, { kind }) => format.price(text, kind);
const columns = [
  { key: "price", field: "currentPrice", of: price, isCoded: true },
  {
    key: "change", field: "change", isCoded: true, level: 5,
    of: (text, { kind }) => format.signed(text, kind),
  },
  { key: "changePercent", field: "changePercent", of: format.percent, isCoded: true },
  { key: "volume", field: "volume", of: format.compact, level: 6 },
  { key: "turnover", field: "turnover", of: format.compact },
  { key: "high", field: "highPrice", of: price, level: 7 },
  { key: "low", field: "lowPrice", of: price, level: 8 },
];
const codes = new Intl.Collator("en");
const flashMilliseconds = 700;
const stillness = matchMedia("(prefers-reduced-motion: reduce)");
const levelClass = ({ level }) => (level ? `from-${level}` : "");

export class StockTable {
  // `decorate(row, stock)` may add to a row that has been updated; `act(stock)` makes a button of
  // each row. `isSortable` lets a person sort
  // by a column; the order that was given comes back with the third click.
  constructor({ label, decorate = null, act = null, isSortable = false } = {}) {
    this.rows = new Map();
    this.decorate = decorate;
    this.act = act;
    this.sorting = null;
    this.body = element("tbody");
    const title = (column) => (isSortable ? element("button", {
      class: "sort", onclick: () => this.sort(column),
    }, text(column.key)) : text(column.key));
    this.heads = new Map([{ key: "name" }, ...columns].map((column) => [
      column.key, element("th", {
        scope: "col", class: column.key === "name" ? null : `figure ${levelClass(column)}`,
      }, title(column))]));
    const head = element("tr", {}, [...this.heads.values()]);
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
    this.arrange();
  }

  arrange() {
    const rows = [...this.rows.values()];
    if (this.sorting) {
      const { field, isDescending } = this.sorting;
      const compare = field ? (one, other) => byNumber(one.stock[field], other.stock[field])
        : (one, other) => codes.compare(one.stock.symbol, other.stock.symbol);
      rows.sort(isDescending ? (one, other) => compare(other, one) : compare);
    }
    const nodes = rows.map((row) => row.node);
    const isSame = nodes.length === this.body.children.length
      && nodes.every((node, index) => node === this.body.children[index]);
    if (!isSame) this.body.replaceChildren(...nodes);
  }

  // Figures begin with the highest, names with the first.
  sort({ key, field }) {
    const { sorting } = this;
    const beginsDescending = field !== undefined;
    if (sorting?.key !== key) this.sorting = { key, field, isDescending: beginsDescending };
    else if (sorting.isDescending === beginsDescending) sorting.isDescending = !beginsDescending;
    else this.sorting = null;
    for (const [name, head] of this.heads) {
      if (name !== this.sorting?.key) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", this.sorting.isDescending ? "descending" : "ascending");
    }
    this.arrange();
  }

  // Newer figures of stocks; of those that are not shown nothing happens.
  update(stocks) {
    for (const stock of stocks) {
      const row = this.rows.get(stock.id);
      if (row) this.fill(row, stock);
    }
    // Not under somebody's keyboard.
    if (this.sorting && !this.body.contains(document.activeElement)) this.arrange();
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
      element("th", { scope: "row", class: this.act ? "acting" : null }, name,
        element("span", { class: "code-line" }, code, mark), this.act?.(stock)),
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
      setText(cell, column.of(stock[column.field], stock));
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

// Which of two decimals is larger; nothing is less than anything.
function byNumber(one, other) {
  if (!one || !other) return (one ? 1 : 0) - (other ? 1 : 0);
  return +one > +other ? 1 : +one < +other ? -1 : 0;
}

export function limitMark(stock) {
  if (stock.trading === "suspended") return text("suspended");
  if (format.isSame(stock.currentPrice, stock.limitUp)) return text("atLimitUp");
  if (format.isSame(stock.currentPrice, stock.limitDown)) return text("atLimitDown");
  return "";
}
