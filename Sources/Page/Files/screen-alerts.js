// Alerts: what came of them, and those that are armed.

import * as format from "./format.js";
import { perform, signInToTrade, signInWithScope } from "./accounts.js";
import { openAlertForm } from "./alert-form.js";
import { DataTable } from "./data-table.js";
import { element, icon, replace } from "./element.js";
import { Names } from "./instrument-names.js";
import { inbox } from "./inbox.js";
import { empty, load } from "./loading.js";
import { session } from "./session.js";
import { named, text } from "./texts.js";
import { thresholdKind } from "./texts-trading.js";
import { alerts } from "./trading.js";
import { card, orProblem } from "./trading-screen.js";

const lookMilliseconds = 3_000;
const inboxRows = 100;
const names = new Names();

export class AlertsScreen {
  constructor() {
    this.title = text("alerts");
    this.ending = new AbortController();
    this.signal = this.ending.signal;
    this.fault = element("div", { class: "fault", role: "alert" });
    this.news = element("div", { class: "card-body" });
    this.armed = element("div", { class: "card-body" });
    this.allRead = element("button", {
      hidden: true, onclick: ({ currentTarget }) => this.act(
        currentTarget, () => alerts.readAll(this.newest)),
    }, text("markAllRead"));
    this.node = element("div", { class: "trading alerts" },
      element("h1", { class: "unseen" }, text("alerts")), this.fault);
    if (!session.isSignedIn) {
      this.node.append(element("section", { class: "card" }, signInToTrade()));
      return;
    }
    this.node.append(
      element("div", { class: "alerts-columns" }, card("inbox", this.news, this.allRead),
        card("alerts", this.armed, element("button", {
          class: "primary", onclick: () => openAlertForm({ made: () => this.refresh() }),
        }, text("newAlert")))));
    this.refresh();
    this.timer = setInterval(() => document.hidden || this.refresh(), lookMilliseconds);
  }

  close() {
    this.ending.abort();
    clearInterval(this.timer);
  }

  refresh() {
    return Promise.all([
      this.part(this.news, () => alerts.inbox({ limit: inboxRows }, this.signal), "notifications",
        (rows) => this.showInbox(rows)),
      this.part(this.armed, () => alerts.all(this.signal), "alerts",
        (rows) => this.showAlerts(rows)),
    ]);
  }

  part(node, from, name, show) {
    return load(node, {
      signal: this.signal,
      from: () => orProblem(async () => {
        const answer = await from();
        await names.find(answer[name].map(({ stockSymbol }) => stockSymbol), this.signal);
        return answer;
      }),
      show: (answer) => (answer.problem
        ? replace(node, signInWithScope(answer.problem)) : show(answer[name])),
    });
  }

  // MARK: Inbox

  showInbox(rows) {
    const version = JSON.stringify(rows);
    if (this.shownInbox === version && this.news.hasChildNodes()) return;
    this.shownInbox = version;
    // One that comes meanwhile was not seen.
    this.newest = rows[0]?.id;
    this.allRead.hidden = rows.every(({ readAt }) => readAt);
    const focused = document.activeElement?.closest?.("[data-id]")?.dataset.id;
    replace(this.news, rows.length === 0 ? empty(text("noNews")) : element(
      "ul", { class: "news" }, rows.map((row) => this.newsItem(row))));
    inbox.look();
    if (focused) this.news.querySelector(`[data-id="${CSS.escape(focused)}"] button`)?.focus();
  }

  newsItem(row) {
    const mark = ["withdrawn", "ended"].find((kind) => row.kind === kind);
    const words = wordsOf(row);
    const act = (key, shape, action) => element("button", {
      class: "quiet", "aria-label": text(key, { words }),
      onclick: ({ currentTarget }) => this.act(currentTarget, action),
    }, icon(shape));
    return element("li", {
      "data-id": row.id, class: [row.readAt ? "" : "unread", mark === "withdrawn" ? mark : ""]
        .filter(Boolean).join(" ") || null,
    },
    element("div", { class: "news-text" },
      element("p", {}, row.readAt ? null : element("span", { class: "unseen" }, text("unread")),
        row.stockSymbol ? element("a", { href: `#/stock/${row.stockSymbol}`, class: "stock-name" },
          names.of(row.stockSymbol)) : null,
        element("span", {}, words), element("span", { class: "muted" }, metAt(row))),
      mark ? element("p", { class: "mark" }, text(mark)) : null,
      element("p", { class: "code" }, format.shanghaiMoment(row.observedAt))),
    row.readAt ? null : act("markRead", "tick", () => alerts.read(row.id)),
    act("removeNotice", "close", () => alerts.hide(row.id)));
  }

  act(button, action) {
    return perform({ fault: this.fault, button }, async () => {
      await action();
      await this.refresh();
    });
  }

  // MARK: Alerts

  showAlerts(rows) {
    if (rows.length === 0) {
      this.table = null;
      replace(this.armed, empty(text("noAlerts")));
      return;
    }
    if (!this.table) {
      this.table = new DataTable({
        label: text("alerts"), columns: [...columns, this.removeColumn()] });
      replace(this.armed, this.table.node);
    }
    this.table.show(rows);
  }

  removeColumn() {
    return {
      key: "remove", isUnseen: true, isFigure: true,
      node: (row) => element("button", {
        class: "small", "aria-label": text("removeAlert", { words: wordsOf(row) }),
        onclick: ({ currentTarget }) => this.act(currentTarget, () => alerts.remove(row.id)),
      }, text("remove")),
    };
  }
}

const thresholdOf = (row) => {
  const kind = thresholdKind(row.condition);
  if (!kind) return "";
  if (kind === "alertPercent") return format.percent(row.threshold);
  return kind === "alertVolume" ? format.whole(row.threshold) : format.price(row.threshold);
};

// What happened, or what is waited for: price ≥ 12.00.
const wordsOf = (row) => (row.event ? noticeOf(row) : [
  row.condition === "sourceStale" ? row.source : "",
  text(`conditionOf_${row.condition}`, { value: thresholdOf(row) }),
].filter(Boolean).join(" "));

// What became of an order or a queue purchase.
const noticeOf = ({ kind, event, side, quantity, filledQuantity, reason }) => text(
  `notice_${kind}_${event}`, {
    side: side ? named("side", side) : "", quantity: format.whole(quantity ?? "0"),
    filled: format.whole(filledQuantity ?? "0"), reason: reason ?? "",
  });

function metAt({ condition, value }) {
  if (!value) return "";
  return text("metAt", {
    value: thresholdKind(condition) === "alertVolume" ? format.whole(value) : format.price(value),
  });
}

const columns = [
  {
    key: "name", isHead: true, version: (row) => [row.stockSymbol, names.of(row.stockSymbol)],
    node: (row) => (row.stockSymbol ? [
      element("a", { href: `#/stock/${row.stockSymbol}`, class: "stock-name" },
        names.of(row.stockSymbol)),
      element("span", { class: "code-line" }, element("span", { class: "code" },
        row.stockSymbol))] : element("span", { class: "stock-name" }, row.source)),
  },
  { key: "condition", of: (row) => text(`conditionOf_${row.condition}`, {
    value: thresholdOf(row) }) },
  { key: "repeat", level: 5, of: (row) => text(`repeat_${row.repeat}`) },
  { key: "state", level: 6, of: (row) => named("alertState", row.state) },
];
