// Home: indexes, the watchlist, what moves, how fresh the sources are.

import { feed } from "./feed.js";
import { gateway } from "./gateway.js";
import { session } from "./session.js";
import * as format from "./format.js";
import { element, replace, setText } from "./element.js";
import { empty, load } from "./loading.js";
import { HomePortfolio } from "./home-portfolio.js";
import { StockTable } from "./stock-table.js";
import { signInForm } from "./sign-in.js";
import { symbolsOf, showTriggers } from "./watchlists.js";
import { text } from "./texts.js";

const indexSymbols = ["sh000001", "sz399001", "sz399006", "sh000300"];
const moverKinds = [
  { key: "moversUp", sort: "changePercent", order: "desc" },
  { key: "moversDown", sort: "changePercent", order: "asc" },
  { key: "moversTurnover", sort: "turnover", order: "desc" },
];
const moversCount = 15;
const moversMilliseconds = 5_000;
const sourcesMilliseconds = 15_000;

export class HomeScreen {
  constructor(_, page) {
    this.title = text("home");
    this.ending = new AbortController();
    this.signal = this.ending.signal;
    this.subscriptions = new Map();
    this.mover = moverKinds[0];
    this.indexes = element("div", { class: "indexes" });
    this.watchlist = element("div", { class: "card-body" });
    this.movers = element("div", { class: "card-body" });
    this.sources = element("div", { class: "card-body" });
    this.portfolio = new HomePortfolio(this.signal);
    this.node = element("div", { class: "home" },
      element("h1", { class: "unseen" }, text("home")),
      element("section", { "aria-label": text("indexes"), class: "index-section" }, this.indexes),
      element("div", { class: "home-columns" },
        element("div", { class: "home-mine" }, this.portfolio.node,
          card({ key: "watchlists", address: "#/watchlists", body: this.watchlist })),
        element("section", { class: "card movers" },
          element("div", { class: "card-head" }, element("h2", {}, text("movers")),
            this.moverChoice()), this.movers),
        card({ key: "freshness", address: "#/health", body: this.sources })));
    this.loadIndexes();
    this.loadWatchlist();
    this.loadMovers();
    this.loadSources();
    this.timers = [
      setInterval(() => document.hidden || this.loadMovers(), moversMilliseconds),
      setInterval(() => document.hidden || this.loadSources(), sourcesMilliseconds),
    ];
    if (page.market) this.showMarket(page.market);
  }

  close() {
    this.ending.abort();
    this.portfolio.close();
    this.timers.forEach(clearInterval);
    for (const end of this.subscriptions.values()) end();
  }

  // Follows the prices of a part of the screen, from its baseline on.
  follow(part, stocks, baseline, listener) {
    const symbols = [...new Set(stocks.map(({ symbol }) => symbol))];
    const key = symbols.join();
    if (this.subscriptions.get(part)?.key === key) return;
    const before = this.subscriptions.get(part);
    const end = symbols.length
      ? feed.subscribe({ name: "stock-prices", symbols }, listener, baseline) : () => {};
    before?.();
    this.subscriptions.set(part, Object.assign(() => end(), { key }));
  }

  loadIndexes() {
    return load(this.indexes, {
      signal: this.signal,
      from: () => gateway.stocks(indexSymbols, this.signal),
      show: (answer) => {
        this.cards = new Map();
        this.showIndexes(answer.stocks);
        this.showWorld();
        this.follow("indexes", answer.stocks, answer, (news) => {
          if (news.stocks) this.showIndexes(news.stocks);
          else this.loadIndexes();
        });
      },
    });
  }

  showIndexes(stocks) {
    for (const stock of stocks) {
      this.indexCard(stock.symbol, {
        name: stock.name, last: stock.currentPrice, change: stock.change, kind: stock.kind,
        changePercent: stock.changePercent, address: `#/stock/${stock.symbol}`,
      });
    }
  }

  showMarket(market) {
    this.market = market;
    // They stand behind the mainland's, whichever comes first.
    if (this.cards) this.showWorld();
  }

  // The world's indexes, which the gateway polls; they are not instruments and have no chart.
  showWorld() {
    for (const index of this.market?.indexes ?? []) {
      if (indexSymbols.includes(index.symbol)) continue;
      this.indexCard(index.symbol, { ...index, kind: "index" });
    }
  }

  indexCard(key, { name, last, change, changePercent, kind, address }) {
    let card = this.cards.get(key);
    if (!card) {
      const fields = {
        name: element("span", { class: "index-name" }),
        last: element("span", { class: "index-last" }),
        change: element("span", { class: "index-change" }),
      };
      const node = element(address ? "a" : "div", { class: "index", href: address },
        fields.name, fields.last, fields.change);
      card = { node, ...fields };
      this.cards.set(key, card);
      if (this.cards.size === 1) replace(this.indexes);
      this.indexes.append(node);
    }
    setText(card.name, name ?? key);
    setText(card.last, format.price(last, kind));
    setText(card.change, `${format.signed(change, kind)}  ${format.percent(changePercent)}`);
    card.node.dataset.direction = format.direction(change);
  }

  loadWatchlist() {
    if (!session.isSignedIn) {
      replace(this.watchlist, signInForm());
      return null;
    }
    return load(this.watchlist, {
      signal: this.signal,
      from: async () => {
        const { watchlists } = await gateway.watchlists(this.signal);
        const symbols = symbolsOf(watchlists[0]);
        const answer = symbols.length ? await gateway.stocks(symbols, this.signal) : null;
        return { watchlist: watchlists[0], answer };
      },
      show: ({ watchlist, answer }) => this.showWatchlist(watchlist, answer),
    });
  }

  showWatchlist(watchlist, answer) {
    if (!answer) {
      replace(this.watchlist, empty(text("watchlistEmpty")));
      return;
    }
    const triggers = new Map(watchlist.symbols.map((row) => [row.symbol, row]));
    const table = new StockTable({
      label: watchlist.name, isSortable: true,
      decorate: (row, stock) => showTriggers(row, stock, triggers),
    });
    table.show(answer.stocks);
    replace(this.watchlist, table.node);
    this.follow("watchlist", answer.stocks, answer, (news) => {
      if (news.stocks) table.update(news.stocks);
      else this.loadWatchlist();
    });
  }

  moverChoice() {
    const group = element("div", { class: "choice", role: "group", "aria-label": text("movers") });
    for (const kind of moverKinds) {
      group.append(element("button", {
        "aria-pressed": String(kind === this.mover),
        onclick: (event) => {
          this.mover = kind;
          for (const button of group.children) {
            button.setAttribute("aria-pressed", String(button === event.currentTarget));
          }
          this.loadMovers();
        },
      }, text(kind.key)));
    }
    return group;
  }

  loadMovers() {
    const { mover } = this;
    return load(this.movers, {
      signal: this.signal,
      from: () => gateway.sorted(mover.sort, mover.order, moversCount, this.signal),
      show: (answer) => {
        if (mover !== this.mover) return;
        if (!this.moverTable?.node.isConnected) {
          this.moverTable = new StockTable({ label: text("movers") });
          replace(this.movers, this.moverTable.node);
        }
        this.moverTable.show(answer.stocks);
        this.follow("movers", answer.stocks, answer, (news) => {
          if (news.stocks) this.moverTable.update(news.stocks);
        });
      },
    });
  }

  loadSources() {
    return load(this.sources, {
      signal: this.signal,
      from: () => gateway.sources(this.signal),
      show: ({ sources }) => replace(this.sources, sourceList(sources)),
    });
  }
}

export function sourceList(sources) {
  return element("ul", { class: "sources" }, sources.map(({ name, endpoints }) => {
    const isUsed = endpoints.length > 0;
    const isUp = endpoints.every(({ state }) => state === "up");
    const state = !isUsed ? "idle" : isUp ? "up" : "down";
    // The database has a source's answers only up to its last change of state.
    const since = endpoints.map((endpoint) => endpoint.since).sort().at(-1);
    const words = { idle: "sourceIdle", up: "sourceUp", down: "sourceDown" };
    return element("li", {},
      element("span", { class: "lamp", "data-state": state }),
      element("span", { class: "source-name" }, name.replaceAll("_", " ")),
      element("span", { class: "muted" }, text(words[state])),
      element("span", { class: "muted end" }, since
        ? text("stateSince", { time: format.shanghaiClock(since) }) : ""));
  }));
}

const card = ({ key, address, body }) => element("section", { class: "card" },
  element("div", { class: "card-head" },
    element("h2", {}, element("a", { href: address }, text(key)))), body);
