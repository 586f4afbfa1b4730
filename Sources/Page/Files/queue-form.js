// Queue Purchase: shares that are ordered when an instrument comes to its limit-up price.

import * as decimal from "./decimal.js";
import * as format from "./format.js";
import { perform } from "./accounts.js";
import { element, setText } from "./element.js";
import { checkbox, choiceOf, decimalInput, field, showSent } from "./fields.js";
import { InstrumentField } from "./instrument-field.js";
import { openTradingForm } from "./order-form.js";
import { text } from "./texts.js";
import { newKey, trading } from "./trading.js";

// What a trigger is compared with.
const triggers = {
  atLimitUp: {},
  withinPercentOfLimitUp: { value: "0.5", field: "percent" },
  sealedForSeconds: { value: "30", field: "seconds" },
  queueAtMost: { value: "1000000", field: "shares" },
  queueWorthAtMost: { value: "100000000", field: "amount" },
  resealed: {},
};

export const openQueueForm = ({ symbol } = {}) => openTradingForm({
  title: text("queuePurchase"), make: (context) => new QueueForm({ ...context, symbol }),
});

class QueueForm {
  constructor({ account, symbol }) {
    Object.assign(this, { account, key: newKey() });
    this.instrument = new InstrumentField({ symbol, changed: () => this.update() });
    const changed = () => this.changed();
    this.quantity = decimalInput({ oninput: changed, required: true, autofocus: true });
    this.trigger = choiceOf({
      prefix: "trigger", names: Object.keys(triggers), changed: () => this.turn() });
    this.value = decimalInput({ oninput: changed });
    this.valueName = element("span");
    this.valueField = element("label", { class: "field" }, this.valueName, this.value);
    this.from = element("input", { type: "time", onchange: changed });
    this.to = element("input", { type: "time", onchange: changed });
    this.carries = checkbox("carriesOver", { onchange: changed });
    this.limit = element("output", { class: "total" });
    this.total = element("output", { class: "total" });
    this.reason = element("p", { class: "reason", role: "status" });
    this.fault = element("div", { class: "fault", role: "alert" });
    this.submit = element("button", { class: "primary", "data-side": "buy" }, text("addToQueue"));
    this.build();
  }

  close() { this.instrument.close(); }

  build() {
    const figure = (key, node) => element(
      "div", { class: "total-line" }, element("span", {}, text(key)), node);
    this.node = element("form", { class: "ticket", onsubmit: (event) => this.send(event) },
      this.instrument.node,
      element("p", { class: "muted" }, text("queueNote")),
      element("div", { class: "fields" }, field("quantity", this.quantity),
        field("trigger", this.trigger), this.valueField,
        field("windowFrom", this.from), field("windowTo", this.to)),
      this.carries, figure("limitUp", this.limit), figure("totalAtLimit", this.total),
      this.reason, this.fault, this.submit);
  }

  start() {
    this.turn();
    this.loadFunds();
  }

  async loadFunds() {
    try {
      this.available = (await trading.account(this.account.id)).account.available;
      this.update();
    } catch {
      // Without it the gateway judges alone.
    }
  }

  turn() {
    const { value, field: name } = triggers[this.trigger.value];
    this.valueField.hidden = !name;
    this.value.value = value ?? "";
    setText(this.valueName, name ? text(`triggerField_${name}`) : "");
    this.changed();
  }

  changed() {
    this.key = newKey();
    this.update();
  }

  update() {
    const { stock } = this.instrument;
    const total = decimal.product(stock?.limitUp, this.quantity.value.trim());
    setText(this.limit, stock ? format.price(stock.limitUp, stock.kind) : format.nothing);
    setText(this.total, total ? `${format.price(total)} ${this.account.currency}`
      : format.nothing);
    const reason = this.reasonNot(stock, total);
    setText(this.reason, reason);
    this.submit.disabled = reason !== "";
  }

  reasonNot(stock, total) {
    if (!stock) return text("reasonInstrument");
    if (!stock.limitUp) return text("reasonNoLimit");
    if (!decimal.isPositive(this.quantity.value.trim())) return text("reasonQuantity");
    if (this.available && decimal.exceeds(total, this.available)) {
      return text("reasonFunds", { amount: format.money(this.available) });
    }
    if (Boolean(this.from.value) !== Boolean(this.to.value)) return text("reasonWindow");
    return "";
  }

  send(event) {
    event.preventDefault();
    const name = this.trigger.value;
    const hasValue = Boolean(triggers[name].field);
    const body = {
      stockSymbol: this.instrument.stock.symbol, quantity: this.quantity.value.trim(),
      triggers: [{ kind: name, ...(hasValue ? { value: this.value.value.trim() } : {}) }],
      carriesOver: this.carries.querySelector("input").checked,
    };
    if (this.from.value) body.window = { from: this.from.value, to: this.to.value };
    const answered = () => { this.key = newKey(); };
    perform({ fault: this.fault, button: this.submit, answered }, async () => {
      await trading.arm(this.account.id, body, this.key);
      showSent(this.node, { words: text("queueSent"), address: "#/queue", key: "queue" });
    });
  }
}
