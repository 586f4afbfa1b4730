// What screens share about watchlists, and about triggers.

import { element } from "./element.js";
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

// Which of its triggers a price has reached: above, below or none, and words for it.
export function reachedTrigger(price, { low, high } = {}, kind) {
  const values = (trigger) => ({ price: format.price(trigger, kind) });
  if (price && high && +price >= +high) {
    return { side: "above", words: text("aboveTrigger", values(high)) };
  }
  if (price && low && +price <= +low) {
    return { side: "below", words: text("belowTrigger", values(low)) };
  }
  return { side: "", words: "" };
}

// Lights the row of a table whose price has reached one of its triggers.
export function lightRow(node, { side }) {
  for (const name of ["above", "below"]) node.classList.toggle(name, name === side);
}

// The same of a table of stocks.
export function showTriggers(row, stock, triggers) {
  const reached = reachedTrigger(stock.currentPrice, triggers.get(stock.symbol), stock.kind);
  lightRow(row.node, reached);
  if (reached.words) row.mark.textContent = reached.words;
}

// The fields of an instrument's triggers. `changed` is called with the one that was typed: null
// where its field is empty.
export const triggerFields = (triggers, name, changed) => [
  ["low", "triggerLow", "lowTrigger"], ["high", "triggerHigh", "highTrigger"],
].map(([field, key, words]) => element("label", { class: "trigger" },
  element("span", { class: "muted" }, text(words)),
  element("input", {
    value: triggers[field] ?? "", inputmode: "decimal", pattern: "\\d+(\\.\\d+)?", size: "8",
    "aria-label": text(key, { name }),
    onchange: ({ target }) => target.reportValidity()
      && changed({ [field]: target.value.trim() || null }),
  })));
