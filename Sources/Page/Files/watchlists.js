// What screens share about watchlists.

import { gateway } from "./gateway.js";
import { text } from "./texts.js";
import * as format from "./format.js";

// `symbols` of a watchlist are strings or objects with triggers.
export const symbolsOf = (watchlist) => (watchlist?.symbols ?? []).map(
  (row) => (typeof row === "string" ? row : row.symbol));

// The first watchlist, made where there is none.
export async function firstWatchlist() {
  const { watchlists } = await gateway.watchlists();
  return watchlists[0] ?? gateway.makeWatchlist(text("firstWatchlist"));
}

// Lights a row whose price has reached one of its triggers.
export function showTriggers(row, stock, triggers) {
  const { low, high } = triggers.get(stock.symbol) ?? {};
  const price = stock.currentPrice;
  const isAbove = Boolean(price && high && +price >= +high);
  const isBelow = Boolean(price && low && +price <= +low);
  row.node.classList.toggle("above", isAbove);
  row.node.classList.toggle("below", isBelow && !isAbove);
  const words = isAbove ? text("aboveTrigger", { price: format.price(high, stock.kind) })
    : isBelow ? text("belowTrigger", { price: format.price(low, stock.kind) }) : "";
  if (words) row.mark.textContent = words;
}
