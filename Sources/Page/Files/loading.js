// What stands where something is not there yet, is empty, or has failed.

import { element, replace } from "./element.js";
import { text } from "./texts.js";

export const loading = () => element(
  "p", { class: "loading", role: "status" }, element("span", { class: "pulse" }), text("loading"));

export const empty = (words, ...more) => element("div", { class: "empty" },
  element("p", {}, words), ...more);

export function failure(problem, retry) {
  const isUnreachable = problem.code === "unreachable";
  const words = isUnreachable ? text("unreachable") : `${text("failed")} ${problem.message ?? ""}`;
  return element("div", { class: "empty", role: "alert" }, element("p", {}, words),
    element("button", { onclick: retry }, text("retry")));
}

// Loads into a node: first the sign that it does, then what `show` makes of the answer, or the
// problem with a button to try again. What is shown already stays until there is more.
export async function load(node, { from, show, signal }) {
  if (!node.hasChildNodes()) replace(node, loading());
  try {
    const answer = await from();
    if (!signal?.aborted) show(answer);
  } catch (problem) {
    if (signal?.aborted) return;
    if (!problem.code) console.error(problem);
    replace(node, failure(problem, () => {
      replace(node);
      load(node, { from, show, signal });
    }));
  }
}
