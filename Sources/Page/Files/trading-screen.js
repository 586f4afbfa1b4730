// What the screens of trading share: the way between them, the account that they show, and looking
// again while somebody looks.

import { session } from "./session.js";
import { element, replace } from "./element.js";
import { load } from "./loading.js";
import { text } from "./texts.js";
import {
  accountForm, chooseAccount, isScopeProblem, loadAccounts, signInToTrade, signInWithScope,
} from "./accounts.js";

const places = ["portfolio", "orders", "queue", "account"];

// A screen gives `build(account)`, which fills `this.body`, and `refresh()`.
export class TradingScreen {
  constructor(place, lookMilliseconds, title = place) {
    this.title = text(title);
    this.ending = new AbortController();
    this.signal = this.ending.signal;
    this.body = element("div", { class: "trading-body" });
    this.choice = element("div", { class: "end" });
    this.node = element("div", { class: "trading" },
      element("h1", { class: "unseen" }, this.title),
      element("div", { class: "trading-head" },
        element("nav", { class: "tabs", "aria-label": text("trading") }, places.map(
          (name) => element("a", {
            href: `#/${name}`, "aria-current": name === place ? "page" : null,
          }, text(name)))),
        this.choice),
      this.body);
    this.timer = setInterval(
      () => document.hidden || !this.account || this.refresh(), lookMilliseconds);
    // After the constructors of what this is part of.
    queueMicrotask(() => this.load());
  }

  close() {
    this.ending.abort();
    clearInterval(this.timer);
  }

  settingsChanged() { if (this.account) this.refresh(); }

  load() {
    if (!session.isSignedIn) {
      replace(this.body, element("section", { class: "card" }, signInToTrade()));
      return null;
    }
    return load(this.body, {
      signal: this.signal,
      from: () => orProblem(() => loadAccounts(this.signal)),
      show: ({ problem, accounts, current }) => {
        if (problem) this.showAlone(signInWithScope(problem));
        else if (!current) this.showAlone(firstAccount(() => this.load()));
        else this.show(accounts, current);
      },
    });
  }

  showAlone(node) { replace(this.body, element("section", { class: "card" }, node)); }

  show(accounts, current) {
    this.accounts = accounts;
    this.account = current;
    replace(this.choice, accounts.length > 1 ? this.select() : element(
      "span", { class: "muted" }, current.name));
    this.build(current);
    this.refresh();
  }

  select() {
    const { account } = this;
    return element("select", {
      "aria-label": text("account"), onchange: ({ target }) => {
        chooseAccount(target.value);
        this.show(this.accounts, this.accounts.find(({ id }) => String(id) === target.value));
      },
    }, this.accounts.map(({ id, name, currency }) => element(
      "option", { value: String(id), selected: id === account.id }, `${name} · ${currency}`)));
  }

  // Loads into a part of the screen, of the account that is shown.
  part(node, from, show) {
    const { account } = this;
    return load(node, {
      signal: this.signal,
      from: () => orProblem(from),
      show: (answer) => {
        if (account !== this.account) return;
        if (answer.problem) replace(node, signInWithScope(answer.problem));
        else show(answer);
      },
    });
  }
}

// A token that lacks a scope is an answer of its own: trying again is of no use.
export async function orProblem(from) {
  try {
    return await from();
  } catch (problem) {
    if (isScopeProblem(problem)) return { problem };
    throw problem;
  }
}

const firstAccount = (opened) => accountForm(
  opened, { name: text("firstAccount"), isFirst: true });

export const card = (key, body, ...actions) => element("section", { class: "card" },
  element("div", { class: "card-head" }, element("h2", {}, text(key)),
    element("div", { class: "line" }, actions)), body);
