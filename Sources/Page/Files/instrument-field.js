// The instrument that a form is about: given, or looked for by code or name; with its live price.

import { feed } from "./feed.js";
import { gateway } from "./gateway.js";
import * as format from "./format.js";
import { element, replace, setText } from "./element.js";
import { text } from "./texts.js";

const pauseMilliseconds = 150;
const foundMax = 12;
let lists = 0;

export class InstrumentField {
  // `changed()` is called whenever `stock` is another, or newer.
  constructor({ symbol, changed }) {
    this.changed = changed;
    this.stock = null;
    this.ending = new AbortController();
    this.fault = element("p", { class: "fault", role: "alert" });
    this.line = element("p", { class: "instrument-line", "aria-live": "off" });
    this.node = element("div", { class: "instrument" }, symbol ? null : this.search(), this.line,
      this.fault);
    if (symbol) this.choose(symbol);
  }

  close() {
    this.ending.abort();
    clearTimeout(this.waiting);
    this.unsubscribe?.();
  }

  search() {
    lists += 1;
    const id = `instruments-${lists}`;
    this.list = element("datalist", { id });
    this.input = element("input", {
      list: id, autocomplete: "off", required: true, spellcheck: "false", autofocus: true,
      placeholder: text("searchHint"), oninput: () => this.typed(),
      onchange: () => this.choose(this.input.value),
    });
    return element("label", { class: "field" }, element("span", {}, text("instrument")),
      this.input, this.list);
  }

  typed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(async () => {
      const words = this.input.value.trim();
      if (!words) return;
      try {
        const { stocks } = await gateway.search(words, this.ending.signal);
        this.found = stocks;
        replace(this.list, stocks.slice(0, foundMax).map(({ symbol, name }) => element(
          "option", { value: symbol }, name ?? symbol)));
        if (stocks.some(({ symbol }) => symbol === words)) this.choose(words);
      } catch {
        // What is typed is asked for whole when the field is left.
      }
    }, pauseMilliseconds);
  }

  async choose(words) {
    const asked = words.trim();
    if (!asked || asked === this.stock?.symbol) return;
    this.unsubscribe?.();
    this.stock = null;
    setText(this.fault, "");
    try {
      const [named] = (this.found ?? []).filter(({ name }) => name === asked);
      const stock = await gateway.stock(named?.symbol ?? asked, this.ending.signal);
      this.show(stock);
      this.unsubscribe = feed.subscribe(
        { name: "stock-prices", symbols: [stock.symbol] },
        (news) => news.stocks && this.show(news.stocks[0]));
    } catch (problem) {
      if (this.ending.signal.aborted) return;
      setText(this.fault, problem.code === "unknown_symbol"
        ? text("unknownSymbol", { symbol: asked }) : problem.message);
      setText(this.line, "");
      this.changed();
    }
  }

  show(stock) {
    if (this.stock?.id === stock.id && this.stock.seq > stock.seq) return;
    this.stock = stock;
    replace(this.line,
      element("strong", {}, stock.name ?? stock.symbol),
      element("span", { class: "code" }, stock.symbol),
      element("span", { "data-direction": format.direction(stock.change), class: "end" },
        `${format.price(stock.currentPrice, stock.kind)}  ${format.percent(
          stock.changePercent)}`));
    this.changed();
  }
}
