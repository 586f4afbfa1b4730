// Making an alert: what is waited for, and how often.

import * as decimal from "./decimal.js";
import { perform, signInToTrade } from "./accounts.js";
import { openDialog } from "./dialog.js";
import { element, replace, setText } from "./element.js";
import { choiceOf, field, showSent } from "./fields.js";
import { gateway } from "./gateway.js";
import { InstrumentField } from "./instrument-field.js";
import { session } from "./session.js";
import { text } from "./texts.js";
import { conditions, thresholdKind } from "./texts-trading.js";
import { alerts } from "./trading.js";

const ofSource = "sourceStale";

export function openAlertForm({ symbol, made = () => {} } = {}) {
  const body = element("div", { class: "sheet-body" });
  const form = session.isSignedIn ? new AlertForm({ symbol, made }) : null;
  openDialog({ title: text("newAlert"), body, ended: () => form?.close() });
  replace(body, form ? form.node : signInToTrade());
  body.querySelector("[autofocus]")?.focus();
}

class AlertForm {
  constructor({ symbol, made }) {
    this.made = made;
    this.instrument = new InstrumentField({ symbol, changed: () => this.update() });
    this.condition = choiceOf({
      prefix: "condition", names: Object.keys(conditions), changed: () => this.turn() });
    this.threshold = element("input", {
      inputmode: "decimal", autocomplete: "off", size: "10", autofocus: true,
      oninput: () => this.update() });
    this.thresholdName = element("span");
    this.thresholdField = element(
      "label", { class: "field" }, this.thresholdName, this.threshold);
    this.source = element("select");
    this.sourceField = field("source", this.source);
    this.repeat = choiceOf({ prefix: "repeat", names: ["once", "daily"] });
    this.reason = element("p", { class: "reason", role: "status" });
    this.fault = element("div", { class: "fault", role: "alert" });
    this.submit = element("button", { class: "primary" }, text("makeAlert"));
    this.node = element("form", { class: "ticket", onsubmit: (event) => this.send(event) },
      this.instrument.node,
      element("div", { class: "fields" }, field("condition", this.condition),
        this.thresholdField, this.sourceField, field("repeat", this.repeat)),
      this.reason, this.fault, this.submit);
    this.turn();
    this.loadSources();
  }

  close() { this.instrument.close(); }

  async loadSources() {
    try {
      const { sources } = await gateway.sources();
      replace(this.source, sources.map(({ name }) => element("option", { value: name }, name)));
    } catch {
      // Without them there is no alert on a source; the others need none.
    }
  }

  get isOfSource() { return this.condition.value === ofSource; }

  turn() {
    const name = thresholdKind(this.condition.value);
    this.thresholdField.hidden = !name;
    this.sourceField.hidden = !this.isOfSource;
    this.instrument.node.hidden = this.isOfSource;
    if (this.instrument.input) this.instrument.input.required = !this.isOfSource;
    setText(this.thresholdName, name ? text(name) : "");
    this.update();
  }

  update() {
    const threshold = this.threshold.value.trim();
    const isNumber = /^-?\d+(\.\d+)?$/.test(threshold);
    const isPercent = thresholdKind(this.condition.value) === "alertPercent";
    const reason = !this.isOfSource && !this.instrument.stock ? text("reasonInstrument")
      : !this.thresholdField.hidden && !(isPercent ? isNumber : decimal.isPositive(threshold))
        ? text("reasonThreshold") : "";
    setText(this.reason, reason);
    this.submit.disabled = reason !== "";
  }

  send(event) {
    event.preventDefault();
    const body = { condition: this.condition.value, repeat: this.repeat.value };
    if (this.isOfSource) body.source = this.source.value;
    else body.stockSymbol = this.instrument.stock.symbol;
    if (!this.thresholdField.hidden) body.threshold = this.threshold.value.trim();
    perform({ fault: this.fault, button: this.submit }, async () => {
      await alerts.make(body);
      showSent(this.node, { words: text("alertMade"), address: "#/alerts", key: "alerts" });
      this.made();
    });
  }
}
