// Search as one types; the text is in the page's own field.

import { feed } from "./feed.js";
import { gateway } from "./gateway.js";
import { element, replace, setText } from "./element.js";
import { empty, failure } from "./loading.js";
import { StockTable } from "./stock-table.js";
import { text } from "./texts.js";

const pauseMilliseconds = 120;

export class SearchScreen {
  constructor(words, page) {
    this.title = text("search");
    this.page = page;
    this.count = element("p", { class: "muted", role: "status" });
    this.results = element("div");
    this.node = element("section", { class: "card search-screen" },
      element("div", { class: "card-head" }, element("h1", {}, text("search")), this.count),
      this.results);
    this.unsubscribe = () => {};
    if (words !== null && page.input.value === "") page.input.value = words;
    requestAnimationFrame(() => page.input.focus());
    this.adopt(words);
  }

  close() {
    clearTimeout(this.waiting);
    this.searching?.abort();
    this.unsubscribe();
  }

  // The same screen serves the next address.
  adopt(words) {
    this.words = words ?? "";
    clearTimeout(this.waiting);
    if (!this.words) {
      this.searching?.abort();
      this.show([]);
      return true;
    }
    this.waiting = setTimeout(() => this.search(), pauseMilliseconds);
    return true;
  }

  async search() {
    this.searching?.abort();
    this.searching = new AbortController();
    const { signal } = this.searching;
    try {
      const answer = await gateway.search(this.words, signal);
      if (!signal.aborted) this.show(answer.stocks, answer);
    } catch (problem) {
      if (!signal.aborted) replace(this.results, failure(problem, () => this.search()));
    }
  }

  show(stocks, baseline) {
    this.unsubscribe();
    this.unsubscribe = () => {};
    setText(this.count, stocks.length ? text("searchCount", { count: stocks.length }) : "");
    if (stocks.length === 0) {
      this.table = null;
      replace(this.results, empty(this.words
        ? text("searchEmpty", { text: this.words }) : text("searchStart")));
      return;
    }
    if (!this.table) {
      this.table = new StockTable({ label: text("search") });
      replace(this.results, this.table.node);
    }
    const { table } = this;
    table.show(stocks);
    this.unsubscribe = feed.subscribe(
      { name: "stock-prices", symbols: stocks.map(({ symbol }) => symbol) },
      (news) => news.stocks && table.update(news.stocks), baseline);
  }

  // From the field into the results: to the first, or through it.
  enter(opens) {
    const first = this.results.querySelector("a");
    if (opens && first) location.hash = first.getAttribute("href");
    else first?.focus();
  }
}
