// Where one signs in by hand, if the address had no token.

import { session } from "./session.js";
import { element, setText } from "./element.js";
import { text } from "./texts.js";

let forms = 0;

export function signInForm(words = text("signInNeeded")) {
  forms += 1;
  const id = `token-${forms}`;
  const fault = element("p", { class: "fault", role: "alert" },
    session.wasRefused ? text("tokenRefused") : "");
  const input = element("input", { id, type: "password", autocomplete: "off", required: true });
  const submit = (event) => {
    event.preventDefault();
    const token = input.value.trim();
    if (/^cndl_[\w.~-]+$/.test(token)) session.signIn(token);
    else setText(fault, text("tokenShape"));
  };
  return element("form", { class: "sign-in", onsubmit: submit },
    element("p", {}, words),
    element("label", { for: id }, text("token")),
    element("div", { class: "line" }, input, element("button", {}, text("signIn"))), fault);
}
