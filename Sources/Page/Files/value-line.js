// What an account was worth, day by day, as a line. Numbers here are places on it, nothing else.

import * as format from "./format.js";
import { element } from "./element.js";
import { empty } from "./loading.js";
import { text } from "./texts.js";

const width = 600;
const height = 120;
const margin = 4;

// Of `days`, each with its value, in their order.
export function valueLine({ days }) {
  if (days.length < 2) return empty(text("noPast"));
  const values = days.map(({ value }) => +value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const x = (index) => (index / (days.length - 1)) * width;
  const y = (value) => (most > least
    ? height - margin - ((value - least) / (most - least)) * (height - 2 * margin) : height / 2);
  const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
  const [first, last] = [days[0], days.at(-1)];
  const words = text("valueFromTo", {
    from: first.day, to: last.day, first: format.money(first.value),
    last: format.money(last.value),
  });
  return element("figure", { class: "value-line" },
    element("svg", {
      viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
      "aria-label": words,
      "data-direction": values.at(-1) >= values[0] ? "rising" : "falling",
    }, element("polyline", { points: points.join(" ") })),
    element("figcaption", { class: "muted" },
      element("span", {}, `${first.day}  ${format.money(first.value)}`),
      element("span", { class: "end" }, `${last.day}  ${format.money(last.value)}`)));
}
