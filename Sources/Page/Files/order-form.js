// Buying and selling: an order, its total as it is typed, and why it cannot be sent yet. What the
// rules of an exchange forbid, the gateway says when it is sent.

import * as decimal from "./decimal.js";
import * as format from "./format.js";
import { loadAccounts, perform, signInToTrade, signInWithScope } from "./accounts.js";
import { openDialog } from "./dialog.js";
import { element, replace, setText } from "./element.js";
import { choiceGroup, choiceOf, decimalInput, field, showSent } from "./fields.js";
import { InstrumentField } from "./instrument-field.js";
import { load } from "./loading.js";
import { session } from "./session.js";
import { named, text } from "./texts.js";
import { orProblem } from "./trading-screen.js";
import { newKey, trading } from "./trading.js";

const types = ["limit", "market", "stop", "stop_limit"];
const forces = ["day", "gtc", "ioc", "fok"];

// The frame of forms that trade: a dialog whose body needs a token and an account.
export function openTradingForm({ title, make }) {
  const body = element("div", { class: "sheet-body" });
  const ending = new AbortController();
  let form = null;
  openDialog({
    title, body, ended: () => {
      ending.abort();
      form?.close();
    },
  });
  if (!session.isSignedIn) {
    replace(body, signInToTrade());
    return;
  }
  load(body, {
    signal: ending.signal,
    from: () => orProblem(() => loadAccounts(ending.signal)),
    show: ({ problem, current }) => {
      if (problem) {
        replace(body, signInWithScope(problem));
      } else if (!current) {
        showSent(body, { words: text("noAccount"), address: "#/account", key: "account" });
      } else {
        form = make({ account: current, signal: ending.signal });
        replace(body, form.node);
        form.start();
        body.querySelector("[autofocus]")?.focus();
      }
    },
  });
}

export const openOrderForm = ({ symbol, side = "buy" }) => openTradingForm({
  title: text("placeOrder"), make: (context) => new OrderForm({ ...context, symbol, side }),
});

class OrderForm {
  constructor({ account, signal, symbol, side }) {
    Object.assign(this, { account, signal, side, key: newKey(), isPriceTyped: false });
    this.instrument = new InstrumentField({ symbol, changed: () => this.update() });
    const changed = () => this.changed();
    this.sides = choiceGroup({
      label: text("side"), names: ["buy", "sell"], prefix: "side", chosen: side,
      changed: (name) => this.turn(name) });
    this.type = choiceOf({ prefix: "type", names: types, changed });
    this.force = choiceOf({ prefix: "force", names: forces, changed });
    this.quantity = decimalInput({ oninput: changed, required: true, autofocus: true });
    this.price = decimalInput({
      oninput: () => {
        this.isPriceTyped = this.price.value !== "";
        changed();
      },
    });
    this.stop = decimalInput({ oninput: changed });
    this.all = element("button", { type: "button", hidden: true, onclick: () => this.sellAll() });
    this.total = element("output", { class: "total" });
    this.funds = element("p", { class: "muted" });
    this.reason = element("p", { class: "reason", role: "status" });
    this.fault = element("div", { class: "fault", role: "alert" });
    this.submit = element("button", { class: "primary" });
    this.build();
  }

  close() { this.instrument.close(); }

  build() {
    this.priceField = field("limitPrice", this.price);
    this.stopField = field("stopPrice", this.stop);
    this.node = element("form", { class: "ticket", onsubmit: (event) => this.send(event) },
      this.instrument.node, this.sides,
      element("div", { class: "fields" }, field("orderType", this.type),
        field("timeInForce", this.force), field("quantity", this.quantity), this.priceField,
        this.stopField),
      this.all,
      element("div", { class: "total-line" }, element("span", {}, text("total")), this.total),
      this.funds, this.reason, this.fault, this.submit);
  }

  start() {
    this.turn(this.side);
    this.loadFunds();
  }

  async loadFunds() {
    const { signal } = this;
    try {
      const [account, portfolio] = await Promise.all([
        trading.account(this.account.id, signal), trading.portfolio(this.account.id, signal)]);
      Object.assign(this, { available: account.account.available, portfolio });
      this.update();
    } catch {
      // Without them the gateway judges alone.
    }
  }

  get holding() {
    return this.portfolio?.stocks.find(
      ({ stockSymbol }) => stockSymbol === this.instrument.stock?.symbol);
  }

  turn(side) {
    this.side = side;
    this.submit.dataset.side = side;
    this.changed();
  }

  sellAll() {
    this.quantity.value = this.holding.sellable;
    this.changed();
  }

  // Another order needs another key; the same one, sent again, does not.
  changed() {
    this.key = newKey();
    this.update();
  }

  update() {
    const { stock } = this.instrument;
    const type = this.type.value;
    const [hasLimit, hasStop] = [type.endsWith("limit"), type.startsWith("stop")];
    this.priceField.hidden = !hasLimit;
    this.stopField.hidden = !hasStop;
    if (!this.isPriceTyped && document.activeElement !== this.price) {
      this.price.value = stock ? suggested(stock, this.side) : "";
    }
    setText(this.submit, text(`place_${this.side}`, { name: stock?.name ?? "" }));
    const total = this.totalOf(hasLimit ? this.price.value : stock?.currentPrice);
    setText(this.total, total ? `${hasLimit ? "" : "≈ "}${format.price(total)} ${
      this.account.currency}` : format.nothing);
    this.showFunds();
    const reason = this.reasonNot({ stock, hasLimit, hasStop, total });
    setText(this.reason, reason);
    this.submit.disabled = reason !== "";
  }

  totalOf(price) { return decimal.product(price, this.quantity.value.trim()); }

  showFunds() {
    const isSale = this.side === "sell";
    const sellable = this.holding?.sellable ?? "0";
    this.all.hidden = !isSale || !decimal.isPositive(sellable);
    setText(this.all, text("sellAll", { count: format.whole(sellable) }));
    setText(this.funds, !isSale && this.available
      ? text("availableFunds", { amount: format.money(this.available) })
      : isSale && this.portfolio ? text("sellableShares", { count: format.whole(sellable) }) : "");
  }

  // In words, why it cannot be sent; nothing where it can.
  reasonNot({ stock, hasLimit, hasStop, total }) {
    if (!stock) return text("reasonInstrument");
    const quantity = this.quantity.value.trim();
    if (!decimal.isPositive(quantity)) return text("reasonQuantity");
    if (hasLimit && !decimal.isPositive(this.price.value.trim())) return text("reasonPrice");
    if (hasStop && !decimal.isPositive(this.stop.value.trim())) return text("reasonStop");
    if (this.side === "buy" && this.available && decimal.exceeds(total, this.available)) {
      return text("reasonFunds", { amount: format.money(this.available) });
    }
    if (this.side === "sell" && this.portfolio
      && decimal.exceeds(quantity, this.holding?.sellable ?? "0")) {
      return text("reasonShares", { count: format.whole(this.holding?.sellable ?? "0") });
    }
    return "";
  }

  send(event) {
    event.preventDefault();
    // A price that goes on with the market would make another order of the one that was sent.
    this.isPriceTyped = true;
    const body = {
      stockSymbol: this.instrument.stock.symbol, side: this.side, type: this.type.value,
      timeInForce: this.force.value, quantity: this.quantity.value.trim(),
    };
    if (!this.priceField.hidden) body.limitPrice = this.price.value.trim();
    if (!this.stopField.hidden) body.stopPrice = this.stop.value.trim();
    const answered = () => { this.key = newKey(); };
    perform({ fault: this.fault, button: this.submit, answered }, async () => {
      const order = await trading.place(this.account.id, body, this.key);
      const words = order.state === "pending" ? text("orderWaits")
        : text("orderSent", { id: order.id, state: named("orderState", order.state) });
      showSent(this.node, { words, address: "#/orders", key: "orders" });
    });
  }
}

// What meets the other side: its best price. Where that side is empty, at the limit, the limit;
// else the last price.
function suggested(stock, side) {
  const [best, own, limit] = side === "buy"
    ? [stock.askPrice, stock.bidPrice, stock.limitUp]
    : [stock.bidPrice, stock.askPrice, stock.limitDown];
  const atLimit = format.isSame(own, limit) ? limit : null;
  return format.typed(
    best ?? atLimit ?? stock.currentPrice ?? stock.previousClose, stock.kind);
}
