// A form above the page. The browser keeps the keyboard inside it, and Escape closes it.

import { element, icon } from "./element.js";
import { text } from "./texts.js";

let titles = 0;

// `ended` is called once when it closes. Returns a function that closes it.
export function openDialog({ title, body, ended = () => {} }) {
  titles += 1;
  const id = `dialog-${titles}`;
  const before = document.activeElement;
  const close = () => node.close();
  const heading = typeof title === "string" ? element("span", {}, title) : title;
  const node = element("dialog", { class: "sheet", "aria-labelledby": id },
    element("div", { class: "card-head" }, element("h2", { id }, heading),
      element("button", { class: "quiet", "aria-label": text("closePanel"), onclick: close },
        icon("close"))),
    body);
  const leave = () => node.close();
  node.addEventListener("close", () => {
    removeEventListener("hashchange", leave);
    node.remove();
    ended();
    before?.focus?.();
  });
  // Another screen: the form was of the one before.
  addEventListener("hashchange", leave);
  node.addEventListener("pointerdown", (event) => event.target === node && close());
  document.body.append(node);
  node.showModal();
  return close;
}
