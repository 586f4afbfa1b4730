// What stands where something is not there yet, is empty, or has failed.

import { feed } from "./feed.js";
import { element, replace } from "./element.js";
import { text } from "./texts.js";

// Nodes that show an answer.
const loaded = new WeakSet();

export const loading = () => element(
  "p", { class: "loading", role: "status" }, element("span", { class: "pulse" }), text("loading"));

export const empty = (words, ...more) => element("div", { class: "empty" },
  element("p", {}, words), ...more);

// It is tried again by hand, and when the gateway is back.
export function failure(problem, retry) {
  const isUnreachable = problem.code === "unreachable";
  const words = isUnreachable ? text("unreachable") : `${text("failed")} ${problem.title ?? ""}`;
  const node = element("div", { class: "empty", role: "alert" }, element("p", {}, words),
    element("button", { onclick: retry }, text("retry")));
  const isBack = () => {
    if (node.isConnected && feed.state !== "live") return;
    feed.removeEventListener("state", isBack);
    if (node.isConnected) retry();
  };
  feed.addEventListener("state", isBack);
  return node;
}

// Loads into a node: first the sign that it does, then what `show` makes of the answer, or the
// problem with a button to try again. What is shown already stays until there is newer.
export async function load(node, { from, show, signal }) {
  if (!node.hasChildNodes()) {
    loaded.delete(node);
    replace(node, loading());
  }
  try {
    const answer = await from();
    if (signal?.aborted) return;
    if (!loaded.has(node)) replace(node);
    loaded.add(node);
    show(answer);
  } catch (problem) {
    if (signal?.aborted) return;
    if (!problem.code) console.error(problem);
    // The banner says that what is shown may be old.
    if (loaded.has(node) && problem.code) return;
    replace(node, failure(problem, () => {
      replace(node);
      load(node, { from, show, signal });
    }));
  }
}
