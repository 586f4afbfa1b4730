// A chart with what belongs to it: which interval and period, the values below the pointer, the
// moment whose knowledge is shown, and why a candle is as it is.

import { Chart, CandleSeries } from "./chart.js";
import { feed } from "./feed.js";
import { gateway } from "./gateway.js";
import * as format from "./format.js";
import { chosen, liveCandle, periodNames, planOf, tabs } from "./chart-periods.js";
import { element, replace, setText } from "./element.js";
import { failure, loading } from "./loading.js";
import { WhyPanel } from "./why-panel.js";
import { named, text } from "./texts.js";

const coarsePoints = 300;
const pageRows = 10_000;
const rowsMax = 50_000;
const asOfPauseMilliseconds = 150;
const tailPauseMilliseconds = 1_500;
const legendTexts = { open: "opened", vwap: "showVWAP" };
const legendFields = ["open", "high", "low", "close", "volume", "vwap"];

// What was chosen stays from one instrument to the next.
let choice = { tab: "intraday", period: "1d" };
let look = { kind: "candles", hasVolume: true, hasVWAP: false };

export class ChartPanel {
  constructor(symbol) {
    this.symbol = symbol;
    this.stock = null;
    this.gaps = [];
    this.asOf = null;
    this.unsubscribe = [];
    this.state = element("div", { class: "chart-state" });
    this.legend = element("p", { class: "legend" });
    this.spoken = element("p", { class: "unseen", "aria-live": "polite" });
    this.host = element("div", {
      class: "chart", tabindex: "0", role: "application", "aria-describedby": "chart-keys",
    });
    this.why = new WhyPanel();
    this.node = element("section", { class: "card chart-card" }, this.toolbar(),
      this.legend, element("div", { class: "chart-box" }, this.host, this.state),
      this.asOfLine(), this.why.node,
      element("p", { id: "chart-keys", class: "unseen" }, text("chartKeys")), this.spoken);
    this.chart = new Chart(this.host, {
      onHover: (row) => this.showLegend(row),
      onSelect: (selection) => this.explain(selection),
    });
    this.chart.setOptions({ ...look, cause: (cause) => named("cause", cause) });
    this.darkness = matchMedia("(prefers-color-scheme: dark)");
    this.recolour = () => this.settingsChanged();
    this.darkness.addEventListener("change", this.recolour);
    this.load();
  }

  close() {
    this.darkness.removeEventListener("change", this.recolour);
    this.loading?.abort();
    this.asOfLoading?.abort();
    clearTimeout(this.asOfWaiting);
    clearTimeout(this.tailWaiting);
    this.unsubscribe.forEach((end) => end());
    this.chart.close();
  }

  settingsChanged() { requestAnimationFrame(() => this.chart.refreshColours()); }

  // MARK: Controls

  toolbar() {
    const choose = (change) => {
      choice = chosen(choice, change);
      this.showChoice();
      this.load();
    };
    this.tabs = buttons(tabs, (tab) => text(tab), (tab) => choose({ tab }));
    this.periods = buttons(
      periodNames, (period) => text(`period_${period}`), (period) => choose({ period }));
    this.kinds = buttons(
      ["candles", "line"], (kind) => text(kind), (kind) => this.restyle({ kind }));
    const toggle = (key, words) => {
      const input = element("input", {
        type: "checkbox", checked: look[key],
        onchange: (event) => this.restyle({ [key]: event.target.checked }),
      });
      return element("label", { class: "toggle" }, input, words);
    };
    const group = (key, map) => element(
      "div", { class: `choice ${key}`, role: "group", "aria-label": text(key) }, [...map.values()]);
    this.showChoice();
    return element("div", { class: "chart-toolbar" }, group("chartInterval", this.tabs),
      group("chartPeriod", this.periods), element("span", { class: "space" }),
      toggle("hasVolume", text("showVolume")), toggle("hasVWAP", text("showVWAP")),
      group("chartKind", this.kinds));
  }

  showChoice() {
    press(this.tabs, choice.tab);
    press(this.periods, choice.period);
    press(this.kinds, look.kind);
  }

  restyle(change) {
    look = { ...look, ...change };
    this.chart.setOptions(look);
    this.showChoice();
    this.showLegend(this.chart.hover?.row ?? null);
  }

  // MARK: Candles

  async load() {
    this.loading?.abort();
    this.loading = new AbortController();
    const { signal } = this.loading;
    const plan = planOf(choice);
    const values = { interval: plan.interval, period: choice.period };
    this.setAsOf(null);
    this.why.hide();
    this.series = null;
    this.fillSlider();
    if (!this.chart.series) replace(this.state, loading());
    try {
      if (plan.isPhased) {
        const coarse = await gateway.history(
          this.symbol, { ...values, points: coarsePoints }, signal);
        this.show(new CandleSeries(coarse, { isThinned: true }), plan);
      }
      const answer = await this.whole(values, signal);
      if (signal.aborted) return;
      this.show(new CandleSeries(answer), plan, { keepsView: plan.isPhased });
      this.follow(answer, plan);
      this.loadGaps(signal);
    } catch (problem) {
      if (signal.aborted) return;
      if (!problem.code) console.error(problem);
      replace(this.state, failure(problem, () => this.load()));
    }
  }

  // All pages of an answer, as one.
  async whole(values, signal) {
    let answer = null;
    let cursor;
    do {
      const page = await gateway.history(
        this.symbol, { ...values, limit: pageRows, cursor }, signal);
      if (answer) {
        for (const [name, column] of Object.entries(page.columns)) {
          answer.columns[name] = [...column, ...answer.columns[name]];
        }
        const added = page.columns.openedAt.length;
        const later = answer.segments
          .map(({ label, start }) => ({ label, start: start + added }))
          .filter(({ label }) => label !== page.segments.at(-1)?.label);
        answer.segments = [...page.segments, ...later];
      } else {
        answer = page;
      }
      cursor = page.nextCursor;
    } while (cursor && answer.columns.openedAt.length < rowsMax);
    return answer;
  }

  show(series, plan, options) {
    if (!series.isThinned) this.series = series;
    replace(this.state, series.length || this.stock?.forming ? null
      : element("p", { class: "empty" }, text("chartEmpty")));
    this.chart.setSeries(series, options);
    this.showLevels(plan);
    this.putLive();
    this.fillSlider();
    this.showLegend(null);
  }

  // The line that a day is measured against.
  showLevels(plan = planOf(choice)) {
    const { stock } = this;
    const level = (value, colour) => (value
      ? [{ value: +value, text: format.price(value, stock.kind), colour }] : []);
    this.chart.setOptions({
      levels: plan.isDay && stock ? [
        ...level(stock.previousClose, "muted"), ...level(stock.limitUp, "rising"),
        ...level(stock.limitDown, "falling"),
      ] : [],
    });
  }

  // The stream goes on from the answer's seq.
  follow(answer, plan) {
    this.unsubscribe.forEach((end) => end());
    const intervals = [...new Set([plan.interval, "1m"])];
    const symbols = [this.symbol];
    this.unsubscribe = [
      feed.subscribe({ name: "candles", symbols, intervals }, (news) => this.take(news), answer),
      feed.subscribe({ name: "gaps", symbols }, () => this.loadGaps(this.loading.signal), answer),
    ];
  }

  take({ candles = [], resync }) {
    if (resync) {
      this.load();
      return;
    }
    const { series } = this;
    if (!series) return;
    for (const candle of candles) {
      if (candle.interval !== series.interval) {
        // Longer candles are the gateway's to make; their end is asked for again.
        this.tailWaiting ||= setTimeout(() => this.loadTail(), tailPauseMilliseconds);
      } else if (this.asOf === null) {
        this.chart.put({ ...candle, state: "final" });
      } else {
        series.put({ ...candle, state: "final" });
      }
    }
    this.fillSlider();
    if (!this.chart.hover) this.showLegend(null);
  }

  async loadTail() {
    this.tailWaiting = null;
    const { series, loading: { signal } } = this;
    if (!series || document.hidden || series.length === 0) return;
    const from = series.text.openedAt[Math.max(series.length - 2, 0)];
    try {
      const answer = await gateway.history(
        this.symbol, { interval: series.interval, from, format: "rows" }, signal);
      if (this.series !== series || signal.aborted) return;
      for (const row of answer.rows) series.put(row);
      if (this.asOf === null) this.chart.setSeries(series, { keepsView: true });
    } catch {
      // The next minute asks again.
    }
  }

  showStock(stock) {
    const isFirst = this.stock === null;
    const isNextDay = !isFirst && this.stock.tradingDay !== stock.tradingDay;
    this.stock = stock;
    this.host.setAttribute("aria-label", text("chartOf", { name: stock.name ?? stock.symbol }));
    if (isFirst) this.showLevels();
    // A chart of one day does not become one of two.
    if (isNextDay && planOf(choice).isDay && this.asOf === null) this.load();
    else this.putLive();
  }

  putLive() {
    if (!this.stock || !this.series || this.asOf !== null) return;
    const candle = liveCandle(this.stock, this.series);
    if (candle && this.chart.put(candle) && !this.chart.hover) this.showLegend(null);
  }

  async loadGaps(signal) {
    try {
      const { gaps } = await gateway.gaps(this.symbol, signal);
      if (signal.aborted) return;
      this.gaps = gaps;
      this.showGaps();
    } catch {
      // A chart without its gaps is still one; the table of gaps shows the problem.
    }
  }

  showGaps() {
    const known = this.asOf === null ? this.gaps
      : this.gaps.filter(({ knownFrom }) => Date.parse(knownFrom) <= Date.parse(this.asOf));
    this.chart.setGaps(known);
  }

  showLegend(row) {
    const { series } = this.chart;
    const shown = series?.candle(row ?? series.length - 1);
    if (!shown) {
      replace(this.legend);
      return;
    }
    const isDaily = !/m$/.test(series.interval);
    const time = isDaily ? shown.tradingDay : `${shown.tradingDay} ${format.clockMinutes(
      shown.openedAt)}`;
    const kind = this.stock?.kind;
    const fields = legendFields.filter((name) => name !== "vwap" || look.hasVWAP);
    const direction = +shown.close > +shown.open ? "rising"
      : +shown.close < +shown.open ? "falling" : "flat";
    const notes = shown.flags.map((flag) => named("flag", flag));
    if (shown.revision > 0) notes.push(text("revision", { number: shown.revision }));
    replace(this.legend, element("span", { class: "legend-time" }, time),
      fields.map((name) => element("span", { class: "legend-field" },
        element("span", { class: "muted" }, text(legendTexts[name] ?? name)),
        element("span", { "data-direction": ["volume", "vwap"].includes(name) ? null : direction },
          name === "volume" ? format.compact(shown.volume) : format.price(shown[name], kind)))),
      row === null ? element("span", { class: "legend-hint" }, text("chartHint")) : null,
      notes.length ? element("span", { class: "legend-note" }, notes.join(" · ")) : null);
    // Read out is what the keyboard came to, not what moves by itself.
    if (row !== null && this.host === document.activeElement) {
      setText(this.spoken, [...this.legend.children].map((part) => part.textContent).join(", "));
    }
  }

  // MARK: As of

  asOfLine() {
    this.slider = element("input", {
      type: "range", min: "0", max: "1", value: "1", "aria-label": text("asOfSlider"),
      disabled: true, oninput: () => this.slide(),
    });
    this.asOfText = element("output", { class: "as-of-text" }, text("asOfNow"));
    this.back = element("button", {
      class: "quiet", hidden: true, onclick: () => this.backToNow(),
    }, text("asOfBack"));
    return element("div", { class: "as-of" }, element("span", { class: "muted" }, text("asOf")),
      this.slider, this.asOfText, this.back);
  }

  fillSlider() {
    if (this.asOf !== null) return;
    const length = this.series?.length ?? 0;
    this.slider.disabled = length === 0;
    this.slider.max = String(Math.max(length, 1));
    this.slider.value = this.slider.max;
  }

  momentOf(step) {
    // Candles that came meanwhile are not on the slider yet.
    if (!this.series || step >= +this.slider.max) return null;
    const { closedAt, openedAt } = this.series.text;
    return closedAt[step] ?? openedAt[step];
  }

  setAsOf(moment) {
    this.asOf = moment;
    setText(this.asOfText, moment === null ? text("asOfNow") : format.moment(moment));
    this.slider.setAttribute("aria-valuetext", this.asOfText.textContent);
    this.back.hidden = moment === null;
    this.node.classList.toggle("past", moment !== null);
  }

  slide() {
    this.setAsOf(this.momentOf(+this.slider.value));
    clearTimeout(this.asOfWaiting);
    this.asOfWaiting = setTimeout(() => this.loadAsOf(), asOfPauseMilliseconds);
  }

  backToNow() {
    this.slider.value = this.slider.max;
    this.slide();
    this.slider.focus();
  }

  async loadAsOf() {
    this.asOfLoading?.abort();
    const { series, asOf } = this;
    if (!series) return;
    if (asOf === null) {
      this.chart.setSeries(series, { keepsView: true });
      this.showGaps();
      this.putLive();
      return;
    }
    this.asOfLoading = new AbortController();
    const { signal } = this.asOfLoading;
    try {
      const answer = await gateway.history(this.symbol, {
        interval: series.interval, from: series.text.openedAt[0], asOf, limit: pageRows,
      }, signal);
      if (signal.aborted || this.asOf !== asOf) return;
      this.chart.setSeries(new CandleSeries(answer, { days: series.days }), { keepsView: true });
      this.showGaps();
      this.showLegend(null);
    } catch (problem) {
      if (!signal.aborted) setText(this.asOfText, problem.message);
    }
  }

  explain({ row, gaps }) {
    const candle = this.chart.series.candle(row);
    const { interval } = this.chart.series;
    this.why.show({ symbol: this.symbol, interval, candle, gaps, kind: this.stock?.kind });
  }
}

function buttons(names, words, action) {
  return new Map(names.map((name) => [
    name, element("button", { "data-name": name, onclick: () => action(name) }, words(name))]));
}

function press(map, pressed) {
  for (const [name, button] of map) button.setAttribute("aria-pressed", String(name === pressed));
}
