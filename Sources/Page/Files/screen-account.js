// The money of an account: what there is, paying in and out, and the log of all that moved it.

import * as decimal from "./decimal.js";
import * as format from "./format.js";
import { accountForm, perform } from "./accounts.js";
import { DataTable } from "./data-table.js";
import { element, replace, setText } from "./element.js";
import { choiceOf, decimalInput, field } from "./fields.js";
import { Names } from "./instrument-names.js";
import { empty } from "./loading.js";
import { amountsEye } from "./settings-eye.js";
import { named, text } from "./texts.js";
import { newKey, trading } from "./trading.js";
import { card, TradingScreen } from "./trading-screen.js";

const lookMilliseconds = 5_000;
const names = new Names();

export class AccountScreen extends TradingScreen {
  constructor() { super("account", lookMilliseconds); }

  build(account) {
    this.balance = element("div", { class: "card-body" });
    this.log = element("div", { class: "card-body" });
    this.more = element("div", { class: "more" });
    this.rows = [];
    this.table = null;
    const done = () => this.refresh();
    replace(this.body,
      element("div", { class: "account-columns" },
        card("balance", this.balance, this.eyePlace = element("span")),
        card("deposit", new CashForm({ account, kind: "deposit", done }).node),
        card("withdrawal", new CashForm({ account, kind: "withdrawal", done }).node)),
      card("transactions", element("div", {}, this.log, this.more)),
      card("openAnother", element("div", { class: "card-body" },
        accountForm(() => this.load()))));
  }

  refresh() {
    replace(this.eyePlace, amountsEye());
    const { account } = this;
    return Promise.all([
      this.part(this.balance, () => trading.account(account.id, this.signal),
        (answer) => replace(this.balance, balance(answer))),
      this.part(this.log, () => this.newest(), ({ transactions, nextCursor }) => {
        // Older pages that were asked for stay behind the newest.
        const newest = new Set(transactions.map(({ id }) => id));
        const isJoined = this.rows.some(({ id }) => newest.has(id));
        this.rows = isJoined
          ? [...transactions, ...this.rows.filter(({ id }) => !newest.has(id))] : transactions;
        if (!isJoined) this.cursor = nextCursor;
        this.showLog();
      }),
    ]);
  }

  async newest(cursor) {
    const answer = await trading.transactions(this.account.id, cursor, this.signal);
    await names.find(answer.transactions.map(({ stockSymbol }) => stockSymbol), this.signal);
    return answer;
  }

  showLog() {
    if (this.rows.length === 0) {
      this.table = null;
      replace(this.log, empty(text("noTransactions")));
    } else {
      if (!this.table) {
        this.table = new DataTable({ label: text("transactions"), columns });
        replace(this.log, this.table.node);
      }
      this.table.show(this.rows);
    }
    replace(this.more, this.cursor && element("button", {
      onclick: ({ currentTarget }) => perform(
        { fault: this.more, button: currentTarget }, async () => {
          const answer = await this.newest(this.cursor);
          this.cursor = answer.nextCursor;
          this.rows.push(...answer.transactions);
          this.showLog();
        }),
    }, text("older")));
  }
}

function balance({ account, equity }) {
  const figure = (key, amount) => [element("dt", {}, text(key)),
    element("dd", {}, format.money(amount))];
  return element("div", {},
    element("p", { class: "big" }, format.money(account.balance),
      element("span", { class: "currency" }, account.currency)),
    element("dl", { class: "figures" }, figure("available", account.available),
      figure("frozen", account.frozen), figure("equity", equity)));
}

const depositTypes = ["apple_pay", "line_pay", "bank"];

// Paying in or out. The type of a deposit has no default: it is chosen.
class CashForm {
  constructor({ account, kind, done }) {
    Object.assign(this, { account, kind, done, key: newKey() });
    const changed = () => this.changed();
    this.amount = decimalInput({
      oninput: changed, required: true, pattern: "\\d+(\\.\\d{1,2})?" });
    this.description = element("input", { maxlength: "256", oninput: changed });
    this.type = kind === "deposit" ? choiceOf({
      prefix: "deposit", names: ["none", ...depositTypes], changed }) : null;
    this.reason = element("p", { class: "reason", role: "status" });
    this.fault = element("div", { class: "fault", role: "alert" });
    this.submit = element("button", { class: "primary" }, text(kind));
    this.node = element("form", {
      class: "ticket card-body", "data-form": kind, onsubmit: (event) => this.send(event),
    }, element("div", { class: "fields" }, field("amount", this.amount),
      this.type && field("depositType", this.type), field("description", this.description)),
    this.reason, this.fault, this.submit);
    this.changed();
  }

  changed() {
    this.key = newKey();
    const reason = !decimal.isPositive(this.amount.value.trim()) ? text("reasonAmount")
      : this.type?.value === "none" ? text("reasonType") : "";
    setText(this.reason, reason);
    this.submit.disabled = reason !== "";
  }

  send(event) {
    event.preventDefault();
    const body = { amount: this.amount.value.trim() };
    if (this.type) body.type = this.type.value;
    const description = this.description.value.trim();
    if (description) body.description = description;
    const send = this.kind === "deposit" ? trading.deposit : trading.withdraw;
    const answered = () => { this.key = newKey(); };
    perform({ fault: this.fault, button: this.submit, answered }, async () => {
      const { state } = await send(this.account.id, body, this.key);
      this.node.reset();
      this.changed();
      setText(this.reason, text(state === "pending" ? "cashWaits" : "cashDone"));
      await this.done();
    }).then(() => { this.submit.disabled = !decimal.isPositive(this.amount.value.trim()); });
  }
}

const columns = [
  { key: "time", isHead: true, of: ({ at }) => format.moment(at) },
  {
    key: "transaction", of: (row) => [named("transaction", row.type),
      row.depositType && text(`deposit_${row.depositType}`)].filter(Boolean).join(" · "),
  },
  {
    key: "instrument", level: 6,
    of: ({ stockSymbol }) => (stockSymbol ? names.of(stockSymbol) : ""),
  },
  { key: "shares", isFigure: true, level: 7, of: ({ quantity }) => (
    quantity ? format.whole(quantity) : "") },
  { key: "price", isFigure: true, level: 7, of: ({ price }) => (
    price ? format.price(price) : "") },
  {
    key: "amount", isFigure: true, of: ({ amount }) => format.signedMoney(amount),
    direction: ({ amount }) => format.direction(amount),
  },
  { key: "note", level: 8, of: ({ description }) => description },
];
