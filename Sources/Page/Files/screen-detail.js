// One instrument: its quote, its chart, its order book, and whether the day is complete.

import { feed } from "./feed.js";
import { gateway } from "./gateway.js";
import { session } from "./session.js";
import * as format from "./format.js";
import { ChartPanel } from "./chart-panel.js";
import { element, icon, replace, setText } from "./element.js";
import { empty, load } from "./loading.js";
import { firstWatchlist, symbolsOf } from "./watchlists.js";
import { openAlertForm } from "./alert-form.js";
import { openOrderForm } from "./order-form.js";
import { openQueueForm } from "./queue-form.js";
import { limitMark } from "./stock-table.js";
import { OrderBook, QuoteFigures } from "./quote-parts.js";
import { named, text } from "./texts.js";

// Certificate and gaps go on with the day; each look is two queries.
const dayMilliseconds = 60_000;

export class DetailScreen {
  constructor(symbol, page) {
    this.symbol = symbol;
    this.page = page;
    this.title = symbol;
    this.ending = new AbortController();
    this.signal = this.ending.signal;
    this.node = element("div", { class: "detail" });
    this.load();
  }

  close() {
    this.ending.abort();
    clearInterval(this.timer);
    this.unsubscribe?.();
    this.panel?.close();
  }

  settingsChanged() { this.panel?.settingsChanged(); }

  load() {
    return load(this.node, {
      signal: this.signal,
      from: async () => {
        try {
          return await gateway.stock(this.symbol, this.signal);
        } catch (problem) {
          if (problem.code !== "unknown_symbol") throw problem;
          return { problem };
        }
      },
      show: (stock) => (stock.problem ? this.showUnknown(stock.problem) : this.build(stock)),
    });
  }

  showUnknown({ nearest }) {
    const links = nearest.map((symbol) => element("a", { href: `#/stock/${symbol}` }, symbol));
    replace(this.node, empty(text("unknownSymbol", { symbol: this.symbol }),
      links.length ? element("p", { class: "nearest" }, text("nearest"), links) : null));
  }

  build(stock) {
    // The address may spell the symbol in any way; everything else uses the gateway's.
    this.symbol = stock.symbol;
    this.figures = new QuoteFigures();
    this.book = new OrderBook();
    this.panel = new ChartPanel(stock.symbol);
    this.day = element("div", { class: "card-body" });
    this.gaps = element("div", { class: "card-body" });
    this.fields = {
      name: element("h1"), code: element("p", { class: "muted" }),
      price: element("span", { class: "big" }), change: element("span", { class: "big-change" }),
      mark: element("span", { class: "mark" }), time: element("span", { class: "muted" }),
    };
    this.heart = element("button", {
      class: "heart", "aria-pressed": "false", onclick: () => this.toggleWatch(),
      hidden: !session.isSignedIn,
    }, icon("heart"));
    const { name, code, price, change, mark, time } = this.fields;
    replace(this.node,
      element("header", { class: "detail-head" },
        element("div", { class: "detail-name" }, name, code), this.heart,
        actions(stock),
        element("div", { class: "detail-price" }, price, change, mark, time)),
      element("div", { class: "detail-columns" },
        this.panel.node,
        element("div", { class: "pair" },
          section("dayCertificate", this.day), section("gaps", this.gaps)),
        element("div", { class: "detail-side" },
          section("quote", this.figures.node), section("book", this.book.node))));
    this.showStock(stock);
    // The gateway gives no epoch with one stock: the stream begins with a snapshot.
    this.unsubscribe = feed.subscribe(
      { name: "stock-prices", symbols: [this.symbol] },
      (news) => news.stocks && this.showStock(news.stocks[0]));
    this.loadLedger();
    this.timer = setInterval(() => document.hidden || this.loadLedger(), dayMilliseconds);
    this.loadWatched();
  }

  showStock(stock) {
    if (this.stock && (this.stock.seq > stock.seq || this.stock.id !== stock.id)) return;
    this.stock = stock;
    const { name, code, price, change, mark, time } = this.fields;
    setText(name, stock.name ?? stock.symbol);
    const words = (prefix) => stock[prefix] && named(prefix, stock[prefix]);
    setText(code, [stock.symbol, words("exchange"), words("board"), stock.currency]
      .filter(Boolean).join(" · "));
    setText(price, format.price(stock.currentPrice ?? stock.previousClose, stock.kind));
    setText(change, `${format.signed(stock.change, stock.kind)}  ${format.percent(
      stock.changePercent)}`);
    setText(mark, limitMark(stock));
    setText(time, format.moment(stock.quotedAt));
    this.fields.price.parentElement.dataset.direction = format.direction(stock.change);
    this.page.setTitle(`${stock.name ?? stock.symbol} ${format.price(
      stock.currentPrice, stock.kind)}`);
    this.figures.show(stock);
    this.book.show(stock);
    this.panel.showStock(stock);
  }

  loadLedger() {
    this.loadDay(this.stock);
    this.loadGaps();
  }

  loadDay(stock) {
    return load(this.day, {
      signal: this.signal,
      from: () => gateway.coverage({ symbol: this.symbol, day: stock.tradingDay }, this.signal),
      show: ({ coverage }) => {
        const row = coverage.find(({ source }) => source === stock.source) ?? coverage[0];
        replace(this.day, row ? certificate(row) : empty(text("whyEmpty")));
      },
    });
  }

  loadGaps() {
    return load(this.gaps, {
      signal: this.signal,
      from: () => gateway.gaps(this.symbol, this.signal),
      show: ({ gaps }) => replace(this.gaps, gaps.length
        ? gapTable(gaps) : element("p", { class: "empty" }, text("noGaps"))),
    });
  }

  // MARK: Watching

  async loadWatched() {
    if (!session.isSignedIn) return;
    try {
      const { watchlists } = await gateway.watchlists(this.signal);
      this.showWatched(watchlists.some((list) => symbolsOf(list).includes(this.symbol)));
    } catch {
      this.heart.hidden = true;
    }
  }

  showWatched(isWatched) {
    this.heart.setAttribute("aria-pressed", String(isWatched));
    this.heart.setAttribute("aria-label", text(isWatched ? "unwatch" : "watch"));
  }

  async toggleWatch() {
    const isWatched = this.heart.getAttribute("aria-pressed") === "true";
    this.heart.disabled = true;
    try {
      if (isWatched) {
        const { watchlists } = await gateway.watchlists();
        const holding = watchlists.filter((list) => symbolsOf(list).includes(this.symbol));
        await Promise.all(holding.map(({ id }) => gateway.removeSymbol(id, this.symbol)));
      } else {
        const list = await firstWatchlist();
        await gateway.putSymbol(list.id, this.symbol);
      }
      this.showWatched(!isWatched);
    } catch (problem) {
      this.heart.title = problem.message;
    }
    this.heart.disabled = false;
    this.heart.focus();
  }
}

// An index has no shares.
const actions = ({ symbol, kind }) => element("div", { class: "line actions" },
  kind === "index" ? null : [
    element("button", { "data-side": "buy", onclick: () => openOrderForm({ symbol }) },
      text("side_buy")),
    element("button", {
      "data-side": "sell", onclick: () => openOrderForm({ symbol, side: "sell" }),
    }, text("side_sell")),
    element("button", { onclick: () => openQueueForm({ symbol }) }, text("queue"))],
  element("button", { onclick: () => openAlertForm({ symbol }) }, text("alert")));

const section = (key, body) => element("section", { class: "card" },
  element("div", { class: "card-head" }, element("h2", {}, text(key))), body);

function certificate(row) {
  const figure = (key, value) => [
    element("dt", {}, text(key)), element("dd", {}, value === null ? format.nothing
      : format.whole(value))];
  const state = row.certified ? "certified" : "notCertified";
  return element("div", {},
    element("p", { class: "certificate", "data-state": row.certified ? "up" : "idle" },
      element("span", { class: "lamp", "data-state": row.certified ? "up" : "idle" }),
      `${row.tradingDay} · ${text(state)}${row.balanced ? ` · ${text("balanced")}` : ""}`),
    element("dl", { class: "figures" }, figure("minutesTraded", row.traded),
      figure("minutesUntraded", row.untraded), figure("minutesMissing", row.missing),
      figure("minuteVolume", row.minuteVolume), figure("gapVolume", row.gapVolume),
      figure("residualVolume", row.residualVolume)));
}

const gapRowsMax = 50;

function gapTable(gaps) {
  const heads = ["from", "to", "volume", "cause", "state"];
  const newest = [...gaps].sort((one, other) => (one.from < other.from ? 1 : -1));
  return element("div", { class: "table-box" }, element("table", { class: "plain" },
    element("thead", {}, element("tr", {}, heads.map((key) => element(
      "th", { scope: "col", class: key === "volume" ? "figure" : null }, text(key))))),
    element("tbody", {}, newest.slice(0, gapRowsMax).map((gap) => element("tr", {},
      element("td", {}, format.moment(gap.from)), element("td", {}, format.clock(gap.to)),
      element("td", { class: "figure" }, format.whole(gap.volume)),
      element("td", {}, named("cause", gap.cause)),
      element("td", {}, named("state", gap.state)))))));
}
