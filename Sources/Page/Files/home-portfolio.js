// The account at a glance: its value, what is held, the last orders. Without an account, or without
// a token that may see one, there is nothing here.

import * as format from "./format.js";
import { loadAccounts } from "./accounts.js";
import { element, replace } from "./element.js";
import { named, text } from "./texts.js";
import { session } from "./session.js";
import { trading } from "./trading.js";

const lookMilliseconds = 5_000;
const ordersMax = 3;
const holdingsMax = 5;

export class HomePortfolio {
  constructor(signal) {
    this.signal = signal;
    this.body = element("div", { class: "card-body" });
    this.node = element("section", { class: "card", hidden: true },
      element("div", { class: "card-head" },
        element("h2", {}, element("a", { href: "#/portfolio" }, text("portfolio")))), this.body);
    if (!session.isSignedIn) return;
    this.look();
    this.timer = setInterval(() => document.hidden || this.look(), lookMilliseconds);
  }

  close() { clearInterval(this.timer); }

  async look() {
    try {
      this.account ??= (await loadAccounts(this.signal)).current;
      if (!this.account) return;
      const account = this.account.id;
      const [portfolio, { orders }] = await Promise.all([
        trading.portfolio(account, this.signal),
        trading.orders({ account, limit: ordersMax }, this.signal)]);
      this.show(portfolio, orders);
    } catch (problem) {
      // The screen of the portfolio says what is wrong; what is shown stays.
      if (!problem.code && !this.signal.aborted) throw problem;
    }
  }

  show(portfolio, orders) {
    const direction = format.direction(portfolio.profitToday);
    replace(this.body,
      element("p", { class: "worth" },
        element("span", { class: "big" }, format.money(portfolio.value)),
        element("span", { "data-direction": direction },
          `${format.signedMoney(portfolio.profitToday)}  ${format.percent(
            portfolio.profitTodayPercent)}`)),
      element("p", { class: "muted" },
        text("availableFunds", { amount: format.money(portfolio.account.available) })),
      list("holdings", portfolio.stocks.slice(0, holdingsMax).map(holding)),
      list("lastOrders", orders.map(order)));
    this.node.hidden = false;
  }
}

const list = (key, lines) => (lines.length === 0 ? null : element("div", {},
  element("h3", { class: "glance-head" }, text(key)), element("ul", { class: "glance" }, lines)));

const line = (symbol, name, ...more) => element("li", {},
  element("a", { href: `#/stock/${symbol}`, class: "stock-name" }, name), ...more);

const holding = ({ stockSymbol, stock, quantity, marketValue, profit, profitPercent }) => line(
  stockSymbol, stock?.name ?? stockSymbol,
  element("span", { class: "muted" }, text("sharesCount", { count: format.whole(quantity) })),
  element("span", { class: "end" }, format.money(marketValue)),
  element("span", { "data-direction": format.direction(profit) }, format.percent(profitPercent)));

const order = ({ stockSymbol, name, side, quantity, state, limitPrice, averagePrice }) => line(
  stockSymbol, name ?? stockSymbol,
  element("a", { href: "#/orders", class: "muted" },
    `${text(`side_${side}`)} ${format.whole(quantity)} · ${named("orderState", state)}`),
  element("span", { class: "end" }, format.price(averagePrice ?? limitPrice)));
