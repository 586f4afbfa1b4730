// Fields of forms: a label above what is typed or chosen.

import { element, replace } from "./element.js";
import { text } from "./texts.js";

export const field = (key, input) => element("label", { class: "field" },
  element("span", {}, text(key)), input);

// Decimal digits; the gateway judges how many places there may be.
export const decimalInput = (properties = {}) => element("input", {
  inputmode: "decimal", autocomplete: "off", pattern: "\\d+(\\.\\d+)?", size: "10",
  ...properties,
});

// A choice of a few names, each with its words under `prefix_`.
export const choiceOf = ({ prefix, names, changed = () => {}, chosen = names[0] }) => element(
  "select", { onchange: changed }, names.map((name) => element(
    "option", { value: name, selected: name === chosen }, text(`${prefix}_${name}`))));

// A few names beside each other, of which one is pressed.
export function choiceGroup({ label, names, prefix, chosen, changed }) {
  const group = element("div", { class: "choice", role: "group", "aria-label": label });
  for (const name of names) {
    group.append(element("button", {
      type: "button", "data-name": name, "aria-pressed": String(name === chosen),
      onclick: () => {
        for (const button of group.children) {
          button.setAttribute("aria-pressed", String(button.dataset.name === name));
        }
        changed(name);
      },
    }, text(`${prefix}_${name}`)));
  }
  return group;
}

export const checkbox = (key, properties = {}) => element("label", { class: "check" },
  element("input", { type: "checkbox", ...properties }), element("span", {}, text(key)));

// In the place of a form: what became of it, and where it is seen.
export function showSent(form, { words, address, key }) {
  // Where the address is the one of the screen below, nothing else would close it.
  const link = element("a", {
    href: address, onclick: () => form.closest("dialog")?.close(),
  }, text(key));
  replace(form, element("div", { class: "empty", role: "status" }, element("p", {}, words),
    element("p", { class: "nearest" }, link)));
  link.focus();
}
