// What an account holds, what it is worth now, and what was gained: today and since it was bought.

import * as format from "./format.js";
import { perform } from "./accounts.js";
import { DataTable, instrumentColumn } from "./data-table.js";
import { element, replace, setText } from "./element.js";
import { empty } from "./loading.js";
import { openOrderForm } from "./order-form.js";
import { amountsEye } from "./settings-eye.js";
import { text } from "./texts.js";
import { trading } from "./trading.js";
import { card, TradingScreen } from "./trading-screen.js";
import { valueLine } from "./value-line.js";
import { lightRow, reachedTrigger, triggerFields } from "./watchlists.js";

// As often as the documents ask.
const lookMilliseconds = 5_000;

const money = (field) => ({
  isFigure: true, of: (row) => format.signedMoney(row[field]),
  direction: (row) => format.direction(row[field]),
});
const percent = (field) => ({
  isFigure: true, of: (row) => format.percent(row[field]),
  direction: (row) => format.direction(row[field]),
});

const nameOf = ({ stock, stockSymbol }) => stock?.name ?? stockSymbol;

const reached = (row) => reachedTrigger(row.currentPrice, row, row.stock?.kind);

const markOf = (row) => {
  if (row.noMarket) return text("noMarket");
  return row.exUnbooked ? text("exUnbooked") : reached(row).words || (row.stale ? text("old") : "");
};

const columns = [
  instrumentColumn("name", {
    symbol: ({ stockSymbol }) => stockSymbol, name: nameOf, mark: markOf,
  }),
  {
    key: "price", isFigure: true, of: (row) => format.price(row.currentPrice, row.stock?.kind),
    direction: ({ stock }) => format.direction(stock?.change),
  },
  { key: "marketValue", isFigure: true, level: 5, of: (row) => format.money(row.marketValue) },
  { key: "shares", isFigure: true, level: 6, of: (row) => format.whole(row.quantity) },
  {
    key: "averagePrice", isFigure: true, level: 7,
    of: (row) => format.price(row.averagePrice, row.stock?.kind),
  },
  { key: "profitToday", level: 8, ...money("profitToday") },
  { key: "profitTodayPercent", level: 8, ...percent("profitTodayPercent") },
  { key: "profit", level: 7, ...money("profit") },
  { key: "profitPercent", ...percent("profitPercent") },
  {
    key: "trade", isUnseen: true, isFigure: true,
    node: (row) => element("button", {
      class: "small", "aria-label": text("sellOf", { name: nameOf(row) }),
      onclick: () => openOrderForm({ symbol: row.stockSymbol, side: "sell" }),
    }, text("side_sell")),
  },
];

export class PortfolioScreen extends TradingScreen {
  constructor() { super("portfolio", lookMilliseconds); }

  build(account) {
    this.summary = new Summary(account);
    this.holdings = element("div", { class: "card-body" });
    this.past = element("div", { class: "card-body" });
    this.edit = element("button", { hidden: true, onclick: () => {
      this.isEditing = !this.isEditing;
      this.table = null;
      this.showHoldings();
    } });
    this.isEditing = false;
    this.table = null;
    this.history = null;
    replace(this.body, this.summary.node, card("holdings", this.holdings, this.edit),
      card("valueByDay", this.past));
    this.part(this.past, () => trading.history(account.id, this.signal),
      (answer) => {
        this.history = answer;
        this.showPast();
      });
  }

  showPast() { if (this.history) replace(this.past, valueLine(this.history)); }

  refresh() {
    this.summary.eye();
    this.showPast();
    return this.part(this.holdings, () => trading.portfolio(this.account.id, this.signal),
      (portfolio) => {
        this.summary.show(portfolio);
        this.stocks = portfolio.stocks;
        // What is typed stays.
        if (!this.isEditing) this.showHoldings();
      });
  }

  showHoldings() {
    const { stocks, isEditing } = this;
    this.edit.hidden = stocks.length === 0;
    setText(this.edit, text(isEditing ? "done" : "edit"));
    this.edit.setAttribute("aria-pressed", String(isEditing));
    if (isEditing) {
      replace(this.holdings, this.editor());
      return;
    }
    if (stocks.length === 0) {
      this.table = null;
      replace(this.holdings, empty(text("noHoldings")));
      return;
    }
    if (!this.table) {
      this.table = new DataTable({
        label: text("holdings"), columns, id: ({ stockSymbol }) => stockSymbol,
        decorate: (node, row) => lightRow(node, reached(row)) });
      replace(this.holdings, this.table.node);
    }
    this.table.show(stocks);
  }

  // In the place of the table: what is held, with its triggers.
  editor() {
    const fault = element("p", { class: "fault", role: "alert" });
    return element("div", { class: "editor" },
      element("ol", { class: "editor-rows" }, this.stocks.map((row) => element(
        "li", { "data-id": row.stockSymbol },
        element("span", { class: "editor-name" }, nameOf(row),
          element("span", { class: "code" }, row.stockSymbol)),
        triggerFields(row, nameOf(row), (change) => this.setTriggers(row, change, fault))))),
      fault);
  }

  setTriggers(row, change, fault) {
    const { low, high } = Object.assign(row, change);
    return perform({ fault }, async () => {
      await trading.setTriggers(this.account.id, row.stockSymbol, { low, high });
      await this.refresh();
    });
  }
}

// The account as a whole, in large figures.
class Summary {
  constructor(account) {
    const figure = () => element("dd", { class: "tile-value" }, format.nothing);
    this.cells = {
      value: figure(), profitToday: figure(), profit: figure(), cash: figure() };
    this.percents = { profitToday: element("span"), profit: element("span") };
    this.eyePlace = element("span");
    this.currency = account.currency;
    this.node = element("dl", { class: "tiles" }, Object.entries(this.cells).map(
      ([key, cell]) => element("div", { class: "card card-body tile" },
        element("dt", { class: "muted line" }, text(`total_${key}`),
          key === "value" ? this.eyePlace : null),
        cell,
        element("dd", { class: "muted" }, this.percents[key]
          ?? (key === "value" ? this.currency : "")))));
  }

  eye() { replace(this.eyePlace, amountsEye()); }

  show(portfolio) {
    for (const [key, cell] of Object.entries(this.cells)) {
      const isProfit = key.startsWith("profit");
      setText(cell, isProfit ? format.signedMoney(portfolio[key]) : format.money(portfolio[key]));
      if (!isProfit) continue;
      cell.parentElement.dataset.direction = format.direction(portfolio[key]);
      setText(this.percents[key], format.percent(portfolio[`${key}Percent`]));
    }
  }
}
