// Queue purchases: armed for the limit-up price, or in the queue there, with how many shares stand
// before them at most, what is certainly filled, and what may be.

import * as format from "./format.js";
import { perform } from "./accounts.js";
import { DataTable, instrumentColumn } from "./data-table.js";
import { element, replace } from "./element.js";
import { empty } from "./loading.js";
import { openQueueForm } from "./queue-form.js";
import { named, text } from "./texts.js";
import { trading } from "./trading.js";
import { card, TradingScreen } from "./trading-screen.js";

const lookMilliseconds = 2_000;
const openRows = 100;
const doneRows = 50;
const isOpen = ({ state }) => ["armed", "ordered"].includes(state);

export class QueueScreen extends TradingScreen {
  constructor() { super("queue", lookMilliseconds, "queuePurchase"); }

  build() {
    this.fault = element("div", { class: "fault", role: "alert" });
    this.open = element("div", { class: "card-body" });
    this.done = element("div", { class: "card-body" });
    this.tables = new Map();
    replace(this.body, this.fault,
      card("openPurchases", this.open, element("button", {
        class: "primary", onclick: () => openQueueForm(),
      }, text("addToQueue"))),
      card("donePurchases", this.done));
  }

  refresh() {
    const account = this.account.id;
    this.part(this.done, () => trading.queue(
      { account, status: "all", limit: doneRows }, this.signal),
    ({ queuePurchases }) => this.table(this.done, "donePurchases", "noDonePurchases",
      [...columns, ...doneColumns], queuePurchases.filter((purchase) => !isOpen(purchase))));
    return this.part(this.open, () => trading.queue({ account, limit: openRows }, this.signal),
      ({ queuePurchases }) => this.table(this.open, "openPurchases", "noPurchases",
        [...columns, ...liveColumns, this.cancelColumn()], queuePurchases));
  }

  table(node, key, emptyKey, columns, rows) {
    if (rows.length === 0) {
      this.tables.delete(key);
      replace(node, empty(text(emptyKey)));
      return;
    }
    if (!this.tables.has(key)) {
      this.tables.set(key, new DataTable({ label: text(key), columns }));
      replace(node, this.tables.get(key).node);
    }
    this.tables.get(key).show(rows);
  }

  cancelColumn() {
    return {
      key: "cancel", isUnseen: true, isFigure: true, version: ({ state }) => state,
      node: (purchase) => element("button", {
        class: "small", "aria-label": text("cancelOf", { name: nameOf(purchase) }),
        onclick: ({ currentTarget }) => perform(
          { fault: this.fault, button: currentTarget }, async () => {
            await trading.disarm(purchase.id);
            await this.refresh();
          }),
      }, text("cancel")),
    };
  }
}

const nameOf = ({ name, stockSymbol }) => name ?? stockSymbol;

const columns = [
  instrumentColumn("name", {
    symbol: ({ stockSymbol }) => stockSymbol, name: nameOf,
  }),
  { key: "shares", isFigure: true, of: ({ quantity }) => format.whole(quantity) },
  { key: "trigger", level: 8, of: triggerWords },
];

const liveColumns = [
  {
    key: "price", isFigure: true, level: 6,
    of: ({ currentPrice }) => format.price(currentPrice),
  },
  {
    key: "limitUp", isFigure: true, level: 7,
    of: ({ limitUp }) => format.price(limitUp),
  },
  { key: "state", of: ({ state }) => named("purchaseState", state) },
  { key: "ahead", isFigure: true, level: 5, of: ({ aheadAtMost }) => bound("≤", aheadAtMost) },
  { key: "behind", isFigure: true, level: 8, of: ({ behindAtLeast }) => bound("≥", behindAtLeast) },
  { key: "certain", isFigure: true, of: (purchase) => shares(purchase.certain) },
  { key: "possible", isFigure: true, level: 7, of: (purchase) => shares(purchase.possible) },
];

const doneColumns = [
  {
    key: "state", of: ({ state, reason }) => [
      named("purchaseState", state), reason].filter(Boolean).join(": "),
  },
  { key: "certain", isFigure: true, level: 6, of: (purchase) => shares(purchase.certain) },
  { key: "time", level: 7, of: ({ changedAt }) => format.shortMoment(changedAt) },
];

const shares = (text) => format.whole(text);
const bound = (sign, count) => (count === null || count === undefined ? format.nothing
  : `${sign} ${format.whole(count)}`);

function triggerWords({ triggers, window }) {
  const words = triggers.map(({ kind, value }) => text(
    `triggerOf_${kind}`, { value: format.whole(value) }));
  if (window) words.push(`${window.from}–${window.to}`);
  return words.join(text("listComma"));
}
