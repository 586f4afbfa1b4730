// Orders: those that are open, which can be cancelled, and those that are done.

import * as format from "./format.js";
import { perform } from "./accounts.js";
import { DataTable, instrumentColumn } from "./data-table.js";
import { element, replace } from "./element.js";
import { choiceGroup } from "./fields.js";
import { empty } from "./loading.js";
import { openOrderForm } from "./order-form.js";
import { named, text } from "./texts.js";
import { trading } from "./trading.js";
import { card, TradingScreen } from "./trading-screen.js";

const lookMilliseconds = 2_000;
const pageRows = 20;
const doneStatuses = ["EXECUTED", "CANCELED"];

export class OrdersScreen extends TradingScreen {
  constructor() { super("orders", lookMilliseconds); }

  build() {
    this.page = 1;
    this.fault = element("div", { class: "fault", role: "alert" });
    this.open = element("div", { class: "card-body" });
    this.done = element("div", { class: "card-body" });
    this.turning = element("span", { class: "line" });
    this.status = doneStatuses[0];
    this.tables = new Map();
    replace(this.body, this.fault,
      card("openOrders", this.open, element("button", {
        class: "primary", onclick: () => openOrderForm({}),
      }, text("placeOrder"))),
      card("doneOrders", this.done, this.turning, this.statusChoice()));
  }

  refresh() {
    this.showList(this.open, "openOrders", {
      from: () => trading.orders(
        { account: this.account.id, status: "OPEN", limit: 100 }, this.signal),
      more: [cancelColumn(this)],
    });
    this.showList(this.done, "doneOrders", {
      from: () => trading.orders(
        { account: this.account.id, status: this.status, page: this.page, limit: pageRows },
        this.signal),
      shown: ({ total }) => this.showTurning(total),
    });
  }

  statusChoice() {
    return choiceGroup({
      label: text("state"), names: doneStatuses, prefix: "status", chosen: this.status,
      changed: (status) => {
        this.status = status;
        this.page = 1;
        this.refresh();
      },
    });
  }

  showList(node, key, { from, more = [], shown = () => {} }) {
    return this.part(node, from, (answer) => {
      shown(answer);
      if (answer.orders.length === 0) {
        this.tables.delete(key);
        replace(node, empty(text(key === "openOrders" ? "noOpenOrders" : "noDoneOrders")));
        return;
      }
      if (!this.tables.has(key)) {
        const table = new DataTable({ label: text(key), columns: [...columns, ...more] });
        this.tables.set(key, table);
        replace(node, table.node);
      }
      this.tables.get(key).show(answer.orders);
    });
  }

  showTurning(total) {
    const last = Math.max(Math.ceil(total / pageRows), 1);
    const turn = (by, shape) => element("button", {
      class: "small", disabled: this.page + by < 1 || this.page + by > last, onclick: () => {
        this.page += by;
        this.refresh();
      },
    }, text(shape));
    if (this.turning.dataset.version === `${this.page}/${last}`) return;
    this.turning.dataset.version = `${this.page}/${last}`;
    replace(this.turning, last > 1 ? [turn(-1, "newer"),
      element("span", { class: "muted" }, text("pageOf", { page: this.page, last })),
      turn(1, "older")] : []);
  }
}

const nameOf = ({ name, stockSymbol }) => name ?? stockSymbol;

const kindOf = (order) => [
  text(`type_${order.type}`), order.timeInForce !== "day" && text(`force_${order.timeInForce}`),
].filter(Boolean).join(" · ");

const columns = [
  instrumentColumn("name", {
    symbol: ({ stockSymbol }) => stockSymbol, name: nameOf,
    mark: ({ queuePurchase }) => (queuePurchase ? text("queuePurchase") : ""),
  }),
  {
    key: "side", of: ({ side }) => text(`side_${side}`),
    direction: ({ side }) => (side === "buy" ? "rising" : "falling"),
  },
  { key: "orderType", level: 8, of: kindOf },
  {
    key: "price", isFigure: true, level: 5,
    of: (order) => format.price(order.limitPrice ?? order.stopPrice),
  },
  {
    key: "filled", isFigure: true,
    of: (order) => `${format.whole(order.filledQuantity)} / ${format.whole(order.quantity)}`,
  },
  {
    key: "averagePrice", isFigure: true, level: 7,
    of: (order) => format.price(order.averagePrice),
  },
  { key: "fees", isFigure: true, level: 8, of: (order) => format.money(order.fees) },
  {
    key: "state", level: 6, of: (order) => named("orderState", order.state),
  },
  { key: "time", level: 7, of: (order) => format.shortMoment(order.createdAt) },
];

// In the open ones, by the screen that shows them.
const cancelColumn = (screen) => ({
  key: "cancel", isUnseen: true, isFigure: true, version: ({ state }) => state,
  node: (order) => order.state !== "pending_cancel" && element("button", {
    class: "small", "aria-label": text("cancelOf", { name: nameOf(order) }),
    onclick: ({ currentTarget }) => perform(
      { fault: screen.fault, button: currentTarget }, async () => {
        await trading.cancel(order.id);
        await screen.refresh();
      }),
  }, text("cancel")),
});
