// Which of the user's paper accounts is looked at, and what stands where there is none to look at.

import { element, replace, setText } from "./element.js";
import { empty } from "./loading.js";
import { signInForm } from "./sign-in.js";
import { text } from "./texts.js";
import { trading } from "./trading.js";

const storageKey = "candled.account";
const command = "candled-gateway token create --name page --scope market --scope account "
  + "--scope trade";
let chosen = null;

try {
  chosen = localStorage.getItem(storageKey);
} catch {
  // Without storage a choice lasts as long as the page.
}

export function chooseAccount(id) {
  chosen = String(id);
  try {
    localStorage.setItem(storageKey, chosen);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

// The accounts, and the one that was chosen: else the first.
export async function loadAccounts(signal) {
  const { accounts } = await trading.accounts(signal);
  return { accounts, current: accounts.find(({ id }) => String(id) === chosen) ?? accounts[0] };
}

// What a token may not do, and which may.
export const scopeHelp = (problem) => element("div", { class: "scope-help" },
  element("p", {}, text("scopeNeeded", { title: sentence(problem.title) })),
  element("code", {}, command));

const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1);

// Whether it is a matter of the token, which trying again does not change.
export const isScopeProblem = ({ code }) => code === "forbidden";

export const signInWithScope = (problem) => element("div", { class: "card-body" },
  scopeHelp(problem), signInForm(text("signInTrading")));

export const signInToTrade = () => element(
  "div", { class: "card-body" }, signInForm(text("signInTrading")));

// Opening the first account, or one more.
export function accountForm(opened, { name = "", isFirst = false } = {}) {
  const fault = element("p", { class: "fault", role: "alert" });
  const input = element("input", {
    required: true, maxlength: "64", value: name, "aria-label": text("accountName"),
    placeholder: text("accountName"),
  });
  const market = element("select", { "aria-label": text("accountMarket") },
    ["A", "US"].map((value) => element("option", { value }, text(`market_${value}`))));
  const submit = (event) => {
    event.preventDefault();
    perform({ fault, button: event.submitter }, async () => {
      const made = await trading.makeAccount(input.value.trim(), market.value);
      chooseAccount(made.id);
      opened(made);
    });
  };
  const form = element("form", { class: "line", onsubmit: submit }, input, market,
    element("button", { class: "primary" }, text("openAccount")), fault);
  return isFirst ? empty(text("noAccount"), form) : form;
}

// Does what a button asks for, once at a time. What is refused is shown as the gateway words it;
// `answered()` is called then: sent again it is another request, and needs another key.
export async function perform({ fault, button, answered }, action) {
  if (button) button.disabled = true;
  replace(fault);
  try {
    return await action();
  } catch (problem) {
    if (!problem.code) console.error(problem);
    if (problem.code !== "unreachable" && problem.status < 500) answered?.();
    if (isScopeProblem(problem)) replace(fault, scopeHelp(problem));
    else setText(fault, words(problem));
    return null;
  } finally {
    if (button) button.disabled = false;
  }
}

function words(problem) {
  if (problem.code === "unreachable") return text("sendAgain");
  return problem.title || problem.message;
}
