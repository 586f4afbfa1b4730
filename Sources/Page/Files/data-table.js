// A table whose rows have keys: figures change in place, and what has the keyboard's focus stays.

import { element, setText } from "./element.js";
import { text } from "./texts.js";

// A column: `key` of its head's text, `of(row)` for a text or `node(row)` for elements, which are
// made anew when `version(row)` changes; `isFigure`, `direction(row)`, `level` as in stock tables.
// `decorate(node, row)` may change a row that has been filled.
export class DataTable {
  constructor({ label, columns, id = (row) => String(row.id), decorate = () => {} }) {
    Object.assign(this, { columns, id, decorate, rows: new Map() });
    this.body = element("tbody");
    this.node = element("div", { class: "table-box" }, element(
      "table", { class: "plain data", "aria-label": label },
      element("thead", {}, element("tr", {}, columns.map((column) => element(
        "th", { scope: "col", class: classOf(column) },
        column.isUnseen ? element("span", { class: "unseen" }, text(column.key))
          : text(column.key))))),
      this.body));
  }

  show(rows) {
    const kept = new Map();
    for (const row of rows) {
      const key = this.id(row);
      const shown = this.rows.get(key) ?? this.makeRow(key);
      kept.set(key, shown);
      this.columns.forEach((column, index) => fill(column, shown.cells[index], row));
      this.decorate(shown.node, row);
    }
    this.rows = kept;
    const nodes = [...kept.values()].map(({ node }) => node);
    const isSame = nodes.length === this.body.children.length
      && nodes.every((node, index) => node === this.body.children[index]);
    if (!isSame) this.body.replaceChildren(...nodes);
  }

  makeRow(key) {
    const cells = this.columns.map((column) => element(
      column.isHead ? "th" : "td",
      { scope: column.isHead ? "row" : null, class: classOf(column), "data-column": column.key }));
    return { cells, node: element("tr", { "data-id": key }, cells) };
  }
}

const classOf = ({ isFigure, level }) => [
  isFigure && "figure", level && `from-${level}`].filter(Boolean).join(" ") || null;

function fill({ of, node, version, direction }, cell, row) {
  if (direction) cell.dataset.direction = direction(row);
  if (of) {
    setText(cell, of(row) ?? "");
    return;
  }
  const next = String(version ? version(row) : "");
  if (cell.hasChildNodes() && cell.dataset.version === next) return;
  cell.dataset.version = next;
  cell.replaceChildren(...[node(row)].flat().filter(Boolean));
}

// The first column of most: an instrument by its name, leading to its screen.
export const instrumentColumn = (key, { symbol, name, mark }) => ({
  key, isHead: true,
  version: (row) => [symbol(row), name(row), mark?.(row)].join("\n"),
  node: (row) => [
    element("a", { href: `#/stock/${symbol(row)}`, class: "stock-name" }, name(row)),
    element("span", { class: "code-line" }, element("span", { class: "code" }, symbol(row)),
      mark?.(row) ? element("span", { class: "mark" }, mark(row)) : null)],
});
