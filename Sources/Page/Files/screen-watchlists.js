// The user's watchlists: made, renamed, ordered, thinned out, with triggers.

import { feed } from "./feed.js";
import { gateway } from "./gateway.js";
import { session } from "./session.js";
import { element, icon, replace, setText } from "./element.js";
import { empty, load } from "./loading.js";
import { openOrderForm } from "./order-form.js";
import { signInForm } from "./sign-in.js";
import { StockTable } from "./stock-table.js";
import { showTriggers, symbolsOf, triggerFields } from "./watchlists.js";
import { text } from "./texts.js";

export class WatchlistsScreen {
  constructor(id) {
    this.title = text("watchlists");
    this.id = id;
    this.isEditing = false;
    this.ending = new AbortController();
    this.signal = this.ending.signal;
    this.unsubscribe = () => {};
    this.lists = element("div", { class: "tabs", role: "group", "aria-label": text("watchlists") });
    this.actions = element("div", { class: "line" });
    this.fault = element("p", { class: "fault", role: "alert" });
    this.body = element("div", { class: "card-body" });
    this.node = element("section", { class: "card" },
      element("div", { class: "card-head" }, element("h1", {}, text("watchlists")), this.actions),
      this.lists, this.fault, this.body);
    if (session.isSignedIn) this.load();
    else replace(this.body, signInForm());
  }

  close() {
    this.ending.abort();
    this.unsubscribe();
  }

  adopt(id) {
    this.id = id;
    this.isEditing = false;
    this.show();
    return true;
  }

  load() {
    return load(this.body, {
      signal: this.signal,
      from: () => gateway.watchlists(this.signal),
      show: ({ watchlists }) => {
        this.watchlists = watchlists;
        this.show();
      },
    });
  }

  get current() {
    return this.watchlists?.find(({ id }) => String(id) === this.id) ?? this.watchlists?.[0];
  }

  // Does something to the lists and shows what the gateway then has.
  async change(action) {
    setText(this.fault, "");
    try {
      await action();
      this.watchlists = (await gateway.watchlists(this.signal)).watchlists;
    } catch (problem) {
      if (!this.signal.aborted) setText(this.fault, problem.message);
    }
    if (!this.signal.aborted) await this.show();
  }

  // Resolves when the lists are shown.
  async show() {
    if (!this.watchlists) return;
    const { current } = this;
    replace(this.lists, this.watchlists.map((list) => element("a", {
      href: `#/watchlists/${list.id}`, "aria-current": list === current ? "true" : null,
    }, list.name)), this.makeForm());
    replace(this.actions, current && element("button", {
      "aria-pressed": String(this.isEditing), onclick: () => {
        this.isEditing = !this.isEditing;
        this.show();
        this.actions.firstElementChild.focus();
      },
    }, text(this.isEditing ? "done" : "edit")));
    this.unsubscribe();
    if (!current || current.symbols.length === 0) {
      replace(this.body, this.isEditing ? this.editor(current) : null,
        empty(text("watchlistEmpty")));
    } else if (this.isEditing) {
      await this.loadStocks((stocks) => replace(this.body, this.editor(current, stocks)));
    } else {
      await this.loadStocks((stocks, baseline) => this.showTable(stocks, baseline));
    }
  }

  loadStocks(show) {
    const symbols = symbolsOf(this.current);
    return load(this.body, {
      signal: this.signal,
      from: () => gateway.stocks(symbols, this.signal),
      show: (answer) => show(answer.stocks, answer),
    });
  }

  showTable(stocks, baseline) {
    const triggers = new Map(this.current.symbols.map((row) => [row.symbol, row]));
    const table = new StockTable({
      label: this.current.name, isSortable: true,
      decorate: (row, stock) => showTriggers(row, stock, triggers), act: tradeButton,
    });
    table.show(stocks);
    replace(this.body, table.node);
    this.unsubscribe = feed.subscribe(
      { name: "stock-prices", symbols: stocks.map(({ symbol }) => symbol) },
      (news) => (news.stocks ? table.update(news.stocks) : this.show()), baseline);
  }

  makeForm() {
    const input = element("input", {
      placeholder: text("newWatchlist"), "aria-label": text("newWatchlist"), maxlength: "64",
      required: true,
    });
    const submit = (event) => {
      event.preventDefault();
      const name = input.value.trim();
      if (!name) return;
      this.change(async () => {
        const made = await gateway.makeWatchlist(name);
        this.id = String(made.id);
        history.replaceState(null, "", `#/watchlists/${made.id}`);
      });
    };
    return element("form", { class: "line new-list", onsubmit: submit }, input,
      element("button", {}, text("create")));
  }

  // MARK: Editing

  editor(list, stocks = []) {
    const names = new Map(stocks.map((stock) => [stock.symbol, stock.name ?? stock.symbol]));
    this.selected = new Set();
    this.removal = element("button", {
      disabled: true, onclick: () => this.order(
        list, list.symbols.filter(({ symbol }) => !this.selected.has(symbol))),
    }, text("remove"));
    const input = element("input", {
      value: list.name, "aria-label": text("watchlistName"), maxlength: "64", required: true,
    });
    const rename = (event) => {
      event.preventDefault();
      this.change(() => gateway.renameWatchlist(list.id, input.value.trim()));
    };
    return element("div", { class: "editor" },
      element("div", { class: "line" },
        element("form", { class: "line", onsubmit: rename }, input,
          element("button", {}, text("rename"))),
        this.removal,
        element("button", {
          class: "danger", onclick: () => this.change(async () => {
            await gateway.deleteWatchlist(list.id);
            this.id = null;
            this.isEditing = false;
          }),
        }, text("deleteWatchlist"))),
      element("ol", { class: "editor-rows" }, list.symbols.map(
        (row, index) => this.editorRow(list, index, names.get(row.symbol) ?? row.symbol))));
  }

  editorRow(list, index, name) {
    const row = list.symbols[index];
    const move = (by, shape, key) => element("button", {
      class: "quiet", "aria-label": text(key, { name }), "data-move": by,
      disabled: index + by < 0 || index + by >= list.symbols.length,
      onclick: () => this.move({ list, index, by }),
    }, icon(shape));
    const select = element("input", {
      type: "checkbox", "aria-label": text("select", { name }),
      onchange: (event) => {
        if (event.target.checked) this.selected.add(row.symbol);
        else this.selected.delete(row.symbol);
        this.removal.disabled = this.selected.size === 0;
        setText(this.removal, text("removeSelected", { count: this.selected.size }));
      },
    });
    // For pointers; the buttons are for everybody.
    const grip = element("span", {
      class: "grip", "aria-hidden": "true", onpointerdown: (event) => this.drag(event, list),
    }, icon("grip"));
    return element("li", { "data-symbol": row.symbol }, grip, select,
      element("span", { class: "editor-name" }, name,
        element("span", { class: "code" }, row.symbol)),
      triggerFields(row, name, (change) => this.setTrigger(list, row, change)),
      move(-1, "up", "moveUp"), move(1, "down", "moveDown"));
  }

  order(list, symbols) {
    return this.change(() => gateway.setSymbols(list.id, symbols.map(withoutNothing)));
  }

  async move({ list, index, by }) {
    const symbols = [...list.symbols];
    const [moved] = symbols.splice(index, 1);
    symbols.splice(index + by, 0, moved);
    await this.order(list, symbols);
    // The same button again, so that a list is ordered with one key.
    const row = this.body.querySelector(`[data-symbol="${CSS.escape(moved.symbol)}"]`);
    const button = row?.querySelector(`[data-move="${by}"]`);
    (button?.disabled ? row.querySelector("button:not(:disabled)") : button)?.focus();
  }

  // The row stays where the pointer holds it; the others make room.
  drag(event, list) {
    if (event.button !== 0) return;
    event.preventDefault();
    const grip = event.currentTarget;
    const row = grip.closest("li");
    const rows = row.parentElement;
    const middle = (other) => {
      const { top, height } = other.getBoundingClientRect();
      return top + height / 2;
    };
    const ending = new AbortController();
    const { signal } = ending;
    const follow = ({ clientY }) => {
      while (row.previousSibling && clientY < middle(row.previousSibling)) {
        row.after(row.previousSibling);
      }
      while (row.nextSibling && clientY > middle(row.nextSibling)) row.before(row.nextSibling);
    };
    const finish = () => {
      ending.abort();
      row.classList.remove("dragged");
      const places = new Map(list.symbols.map((entry) => [entry.symbol, entry]));
      const symbols = [...rows.children].map(({ dataset }) => places.get(dataset.symbol));
      if (symbols.some((entry, index) => entry !== list.symbols[index])) this.order(list, symbols);
    };
    row.classList.add("dragged");
    grip.setPointerCapture(event.pointerId);
    grip.addEventListener("pointermove", follow, { signal });
    grip.addEventListener("lostpointercapture", finish, { signal });
  }

  setTrigger(list, row, change) {
    const triggers = { low: row.low, high: row.high, ...change };
    return this.change(() => gateway.putSymbol(list.id, row.symbol, withoutNothing(triggers)));
  }
}

const tradeButton = ({ symbol, name, kind }) => (kind === "index" ? null : element("button", {
  class: "quiet", "aria-label": text("tradeOf", { name: name ?? symbol }), title: text("trade"),
  onclick: () => openOrderForm({ symbol }),
}, icon("trade")));

// The gateway takes a trigger or none, not null.
const withoutNothing = (object) => Object.fromEntries(Object.entries(object).filter(
  ([, value]) => value !== null && value !== undefined));
