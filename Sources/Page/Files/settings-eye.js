// The eye that hides amounts, and shows them again.

import { element, icon } from "./element.js";
import { settings } from "./settings.js";
import { text } from "./texts.js";

export function amountsEye() {
  const isHidden = settings.get("hidesAmounts");
  return element("button", {
    class: "quiet eye", type: "button", "aria-pressed": String(isHidden),
    "aria-label": text("hideAmounts"), onclick: () => settings.set("hidesAmounts", !isHidden),
  }, icon(isHidden ? "eyeClosed" : "eye"));
}
