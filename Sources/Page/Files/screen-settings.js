// What a person may choose, and with which token.

import { session } from "./session.js";
import { settings } from "./settings.js";
import { element } from "./element.js";
import { signInForm } from "./sign-in.js";
import { text } from "./texts.js";

const groups = [
  {
    name: "refreshSeconds", title: "refresh",
    words: (value) => text("seconds", { count: value }),
  },
  {
    name: "colours", title: "colours",
    words: (value) => text(value === "red-up" ? "redUp" : "greenUp"),
  },
  {
    name: "theme", title: "theme",
    words: (value) => text({ auto: "themeAuto", light: "themeLight", dark: "themeDark" }[value]),
  },
  { name: "language", title: "language", words: (value) => ({ en: "English", zh: "中文" })[value] },
  {
    name: "hidesAmounts", title: "amounts", note: "amountsNote",
    words: (value) => text(value ? "amountsHidden" : "amountsShown"),
  },
];

export class SettingsScreen {
  constructor() {
    this.title = text("settings");
    this.node = element("section", { class: "card settings" },
      element("div", { class: "card-head" }, element("h1", {}, text("settings"))),
      groups.map(group), this.account());
  }

  close() {}

  account() {
    const body = session.isSignedIn
      ? [element("p", {}, text("signedIn")),
        element("button", { onclick: () => session.signOut() }, text("signOut"))]
      : [element("p", {}, text("notSignedIn")), signInForm()];
    return element("div", { class: "setting" }, element("h2", {}, text("account")),
      element("div", {}, ...body));
  }
}

function group({ name, title, words, note }) {
  return element("fieldset", { class: "setting" }, element("legend", {}, text(title)),
    element("div", {}, element("div", { class: "choice" }, settings.choices(name).map((value) => {
      const id = `setting-${name}-${value}`;
      return element("span", { class: "option" }, element("input", {
        type: "radio", name, id, checked: settings.get(name) === value,
        onchange: () => settings.set(name, value),
      }), element("label", { for: id }, words(value)));
    })), note ? element("p", { class: "muted note" }, text(note)) : null));
}
