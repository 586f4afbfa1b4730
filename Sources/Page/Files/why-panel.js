// Which answers a candle was made of, which source, which revision, and what is missing in it.

import { gateway } from "./gateway.js";
import * as format from "./format.js";
import { element, icon, replace } from "./element.js";
import { load } from "./loading.js";
import { named, text } from "./texts.js";

export class WhyPanel {
  constructor() {
    this.heading = element("h3", { tabindex: "-1" });
    this.body = element("div", { class: "why-body" });
    this.node = element("aside", {
      class: "why", hidden: true, "aria-label": text("why"),
      onkeydown: (event) => event.key === "Escape" && this.hide(),
    }, element("div", { class: "card-head" }, this.heading,
      element("button", {
        class: "quiet", "aria-label": text("closePanel"), onclick: () => this.hide(),
      }, icon("close"))), this.body);
  }

  hide() {
    this.loading?.abort();
    if (this.node.contains(document.activeElement)) {
      this.node.parentElement.querySelector(".chart")?.focus();
    }
    this.node.hidden = true;
  }

  show({ symbol, interval, candle, gaps, kind }) {
    this.loading?.abort();
    this.loading = new AbortController();
    const { signal } = this.loading;
    const time = /m$/.test(interval) ? format.clockMinutes(candle.openedAt) : "";
    replace(this.heading, `${text("why")} ${candle.tradingDay} ${time}`);
    this.node.hidden = false;
    replace(this.body);
    const { openedAt, closedAt, revision } = candle;
    return load(this.body, {
      signal,
      from: async () => {
        const [why, revised] = await Promise.all([
          gateway.why(symbol, openedAt, interval, signal),
          revision > 0 && closedAt
            ? gateway.revisions(symbol, openedAt, closedAt, signal) : { revisions: [] },
        ]);
        return { facts: why.facts, revisions: revised.revisions };
      },
      show: ({ facts, revisions }) => {
        const own = revisions.filter((row) => row.interval === interval);
        replace(this.body, factList(facts), own.map((row) => revisionOf(row, kind)),
          gaps.map((gap) => gapOf(gap)));
      },
    });
  }
}

function factList(facts) {
  if (facts.length === 0) return element("p", { class: "muted" }, text("whyEmpty"));
  return element("ol", { class: "facts" }, facts.map(({ what, at, detail }) => element("li", {},
    element("span", { class: "fact-name" }, named("what", what)),
    element("span", { class: "fact-time" }, format.moment(at)),
    element("span", { class: "fact-detail" }, detail))));
}

const prices = ["open", "high", "low", "close"];

const revisionOf = (row, kind) => element("p", { class: "fact" },
  element("span", { class: "dot" }), `${text("revision", { number: row.revision })}: `
    + `${prices.map((name) => format.price(row[name], kind)).join(" / ")}, `
    + `${format.whole(row.volume)}, `
    + text("revisionFrom", { from: format.moment(row.knownFrom), to: format.moment(row.knownTo) })
    + ` (${row.cause.replaceAll("_", " ")})`);

const gapOf = (gap) => element("p", { class: "fact" }, element("span", { class: "hatch" }),
  `${text("gapHere")}: ${named("cause", gap.cause)}, ${format.clock(gap.from)}–`
    + `${format.clock(gap.to)}, ${text("volume")} ${format.whole(gap.volume)}, `
    + named("state", gap.state));
