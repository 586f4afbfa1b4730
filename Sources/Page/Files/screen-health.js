// Market health, the operator's view: sources, coverage, gaps, disagreements, certificates.

import { gateway } from "./gateway.js";
import * as format from "./format.js";
import { element, replace } from "./element.js";
import { load } from "./loading.js";
import { named, text } from "./texts.js";

const refreshMilliseconds = 15_000;
const rowsShown = 100;
const pageRows = 5_000;

export class HealthScreen {
  constructor() {
    this.title = text("health");
    this.ending = new AbortController();
    this.signal = this.ending.signal;
    this.sources = element("div", { class: "card-body" });
    this.summary = element("div", { class: "card-body" });
    this.incomplete = element("div", { class: "card-body" });
    this.disagreements = element("div", { class: "card-body" });
    const section = (key, body) => element("section", { class: "card" },
      element("div", { class: "card-head" }, element("h2", {}, text(key))), body);
    this.node = element("div", { class: "health" }, element("h1", {}, text("health")),
      section("coverage", this.summary), section("freshness", this.sources),
      section("gaps", this.incomplete), section("disagreements", this.disagreements));
    this.loadAll();
    this.timer = setInterval(() => document.hidden || this.loadAll(), refreshMilliseconds);
  }

  close() {
    this.ending.abort();
    clearInterval(this.timer);
  }

  loadAll() {
    const { signal } = this;
    load(this.sources, {
      signal, from: () => gateway.sources(signal),
      show: ({ sources }) => replace(this.sources, sourceTable(sources)),
    });
    load(this.summary, {
      signal, from: () => this.coverage(),
      show: ({ day, rows }) => replace(this.summary, summaryOf(rows, day)),
    });
    load(this.incomplete, {
      signal, from: () => this.coverage(),
      show: ({ rows }) => replace(this.incomplete, incompleteTable(rows)),
    });
    load(this.disagreements, {
      signal, from: () => gateway.disagreements({}, signal),
      show: ({ disagreements }) => replace(
        this.disagreements, disagreementTable(disagreements)),
    });
  }

  // What two parts of the screen show is asked for once.
  coverage() {
    this.asking ??= this.wholeCoverage().finally(() => { this.asking = null; });
    return this.asking;
  }

  async wholeCoverage() {
    const rows = [];
    let answer;
    do {
      answer = await gateway.coverage(
        { limit: pageRows, cursor: answer?.nextCursor }, this.signal);
      rows.push(...answer.coverage);
    } while (answer.nextCursor);
    return { day: answer.tradingDay, rows };
  }
}

// A table of rows: each head a key of a text, with `figure` where numbers stand.
function table(heads, rows) {
  return element("div", { class: "table-box" }, element("table", { class: "plain" },
    element("thead", {}, element("tr", {}, heads.map(({ key, isFigure }) => element(
      "th", { scope: "col", class: isFigure ? "figure" : null }, text(key))))),
    element("tbody", {}, rows.map((cells) => element("tr", {}, cells.map((cell, index) => element(
      "td", { class: heads[index].isFigure ? "figure" : null }, cell)))))));
}

function sourceTable(sources) {
  const rows = sources.flatMap(({ name, endpoints }) => {
    const label = name.replaceAll("_", " ");
    if (endpoints.length === 0) {
      return [[lamp("idle", label), format.nothing, text("sourceIdle"), ""]];
    }
    return endpoints.map((endpoint) => [
      lamp(endpoint.state === "up" ? "up" : "down", label), endpoint.endpoint,
      text(endpoint.state === "up" ? "sourceUp" : "sourceDown"),
      format.shanghaiClock(endpoint.since),
    ]);
  });
  return table(
    [{ key: "source" }, { key: "endpoint" }, { key: "state" }, { key: "since" }], rows);
}

const lamp = (state, words) => element("span", { class: "source-name" },
  element("span", { class: "lamp", "data-state": state }), words);

function summaryOf(rows, day) {
  const count = (test) => String(rows.filter(test).length);
  const tile = (key, value) => element("div", { class: "tile" },
    element("span", { class: "tile-value" }, format.whole(value)),
    element("span", { class: "muted" }, text(key)));
  return element("div", {}, element("p", { class: "muted" }, text("coverageOf", { day })),
    element("div", { class: "tiles" }, tile("instruments", String(rows.length)),
      tile("withMissing", count(({ missing }) => missing > 0)),
      tile("withGaps", count(({ gapVolume }) => gapVolume && /[1-9]/.test(gapVolume))),
      tile("unbalanced", count(({ balanced }) => balanced === false)),
      tile("certifiedCount", count(({ certified }) => certified))));
}

const isIncomplete = ({ missing, gapVolume, balanced }) => missing > 0
  || (gapVolume && /[1-9]/.test(gapVolume)) || balanced === false;

function incompleteTable(rows) {
  const found = rows.filter(isIncomplete).slice(0, rowsShown);
  if (found.length === 0) return element("p", { class: "empty" }, text("allComplete"));
  return table([
    { key: "name" }, { key: "source" }, { key: "traded", isFigure: true },
    { key: "untraded", isFigure: true }, { key: "missing", isFigure: true },
    { key: "gapVolume", isFigure: true }, { key: "residualVolume", isFigure: true },
  ], found.map((row) => [
    link(row.symbol), row.source, format.whole(row.traded), format.whole(row.untraded),
    row.missing === null ? format.nothing : format.whole(row.missing),
    format.whole(row.gapVolume), format.whole(row.residualVolume),
  ]));
}

const link = (symbol) => element("a", { href: `#/stock/${symbol}` }, symbol);

function disagreementTable(rows) {
  if (rows.length === 0) return element("p", { class: "empty" }, text("noDisagreements"));
  return table([
    { key: "name" }, { key: "chartInterval" }, { key: "from" }, { key: "field" },
    { key: "ours", isFigure: true }, { key: "theirs", isFigure: true }, { key: "source" },
    { key: "state" },
  ], rows.slice(0, rowsShown).map((row) => [
    link(row.symbol), row.interval, format.moment(row.openedAt), row.field,
    row.ours ?? format.nothing, row.theirs ?? format.nothing,
    `${row.ourSource} / ${row.theirSource}`, named("state", row.state),
  ]));
}
