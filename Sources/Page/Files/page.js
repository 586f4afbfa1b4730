// The page: its frame, and which screen an address shows. Addresses live behind the #, so that the
// gateway serves one document.

import { feed } from "./feed.js";
import { gateway } from "./gateway.js";
import { inbox } from "./inbox.js";
import { session } from "./session.js";
import { settings } from "./settings.js";
import { openDialog } from "./dialog.js";
import { element, icon, replace, setText } from "./element.js";
import { named, text } from "./texts.js";
import { AccountScreen } from "./screen-account.js";
import { AlertsScreen } from "./screen-alerts.js";
import { DetailScreen } from "./screen-detail.js";
import { HealthScreen } from "./screen-health.js";
import { HomeScreen } from "./screen-home.js";
import { OrdersScreen } from "./screen-orders.js";
import { PortfolioScreen } from "./screen-portfolio.js";
import { QueueScreen } from "./screen-queue.js";
import { SearchScreen } from "./screen-search.js";
import { SettingsScreen } from "./screen-settings.js";
import { WatchlistsScreen } from "./screen-watchlists.js";

// Beside this file, wherever the gateway serves it.
const ICON = new URL("icon.svg", import.meta.url).pathname;
const screens = [
  { pattern: /^$/, screen: HomeScreen, place: "home" },
  { pattern: /^stock\/([^/]+)$/, screen: DetailScreen },
  { pattern: /^search(?:\/(.*))?$/, screen: SearchScreen, place: "search" },
  { pattern: /^watchlists(?:\/(\d+))?$/, screen: WatchlistsScreen, place: "watchlists" },
  { pattern: /^portfolio$/, screen: PortfolioScreen, place: "trading" },
  { pattern: /^orders$/, screen: OrdersScreen, place: "trading" },
  { pattern: /^queue$/, screen: QueueScreen, place: "trading" },
  { pattern: /^account$/, screen: AccountScreen, place: "trading" },
  { pattern: /^alerts$/, screen: AlertsScreen, place: "alerts" },
  { pattern: /^health$/, screen: HealthScreen, place: "health" },
  { pattern: /^settings$/, screen: SettingsScreen, place: "settings" },
];
const places = [
  { place: "home", address: "#/", shape: "home" },
  { place: "search", address: "#/search", shape: "search", isForPhones: true },
  { place: "watchlists", address: "#/watchlists", shape: "list", short: "watchlistsShort" },
  { place: "trading", address: "#/portfolio", shape: "trade" },
  { place: "alerts", address: "#/alerts", shape: "bell" },
  { place: "health", address: "#/health", shape: "pulse", short: "healthShort" },
  { place: "settings", address: "#/settings", shape: "gear" },
];
const marketMilliseconds = 15_000;
// More are many at a glance.
const countMax = 99;

class Page {
  constructor() {
    this.screen = null;
  }

  start() {
    session.takeFromAddress();
    settings.show();
    this.build();
    addEventListener("hashchange", () => this.navigate());
    addEventListener("keydown", (event) => this.pressKey(event));
    feed.addEventListener("state", () => this.showState());
    settings.addEventListener("change", () => this.settingsChanged());
    settings.addEventListener("chosen", () => this.savePreferences());
    session.addEventListener("change", () => this.sessionChanged());
    inbox.addEventListener("change", () => this.showUnread());
    feed.start();
    this.navigate();
    this.loadPreferences();
    this.loadMarket();
    inbox.look();
    setInterval(() => {
      this.loadMarket();
      document.hidden || inbox.look();
    }, marketMilliseconds);
  }

  build() {
    this.language = settings.get("language");
    this.banner = element("div", { class: "banner", role: "status", hidden: true });
    this.session = element("span", { class: "session" });
    this.input = element("input", {
      type: "search", class: "search", placeholder: text("searchHint"), autocomplete: "off",
      "aria-label": text("search"), enterkeyhint: "search", spellcheck: "false",
      oninput: () => this.search(), onkeydown: (event) => this.pressInSearch(event),
    });
    this.main = element("main", { id: "main", tabindex: "-1" });
    this.links = new Map(places.map(({ place, address, shape, short, isForPhones }) => [
      place, element("a", { href: address, class: isForPhones ? "for-phones" : null }, icon(shape),
        element("span", { class: "long" }, text(place)),
        element("span", { class: "short" }, text(short ?? place))),
    ]));
    replace(document.body,
      element("a", { href: "#main", class: "skip", onclick: (event) => this.skip(event) },
        text("skip")),
      element("header", { class: "top" },
        element("a", { href: "#/", class: "brand" },
          element("img", { src: ICON, alt: "", width: "22", height: "22" }), "candled"),
        element("nav", { "aria-label": text("navigation") }, [...this.links.values()]),
        element("div", { class: "search-box" }, icon("search"), this.input), this.session),
      this.banner, this.main);
    this.count = element("span", { class: "count", hidden: true });
    this.links.get("alerts").append(this.count);
    this.showUnread();
    this.showState();
  }

  showUnread() {
    const { unread } = inbox;
    this.count.hidden = unread === 0;
    replace(this.count, unread > 0 && [
      unread > countMax ? `${countMax}+` : String(unread),
      element("span", { class: "unseen" }, ` ${text("unread")}`)]);
  }

  skip(event) {
    event.preventDefault();
    this.main.focus();
  }

  navigate() {
    // A token may come into a page that is open already.
    session.takeFromAddress();
    if (session.offered) this.askForOffered();
    const address = location.hash.replace(/^#\/?/, "");
    const found = screens.find(({ pattern }) => pattern.test(address));
    const parameter = found ? found.pattern.exec(address)[1] : null;
    const decoded = parameter === undefined || parameter === null ? null : decode(parameter);
    if (found && this.screen instanceof found.screen && this.screen.adopt?.(decoded)) return;
    this.screen?.close();
    for (const [place, link] of this.links) {
      if (place === found?.place) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.screen = found ? new found.screen(decoded, this) : null;
    const shown = this.screen?.node ?? element("p", { class: "empty" }, text("noPage"));
    replace(this.main, shown);
    this.setTitle(this.screen?.title);
    if (!(this.screen instanceof SearchScreen)) {
      this.input.value = "";
      scrollTo(0, 0);
    }
  }

  // Whoever made the link must not put his account in place of the person's unseen.
  askForOffered() {
    const token = session.offered;
    session.offered = null;
    const choose = (key, isChosen) => element("button", {
      autofocus: !isChosen, onclick: () => {
        close();
        if (isChosen) session.signIn(token);
      },
    }, text(key));
    const close = openDialog({
      title: text("otherToken"),
      body: element("div", { class: "sheet-body" }, element("p", {}, text("otherTokenNote")),
        element("div", { class: "line" }, choose("stay", false), choose("replaceToken", true))),
    });
  }

  setTitle(title) { document.title = title ? `${title} · candled` : "candled"; }

  search() {
    const words = this.input.value.trim();
    const address = `#/search/${encodeURIComponent(words)}`;
    if (this.screen instanceof SearchScreen) {
      history.replaceState(null, "", address);
      this.screen.adopt(words);
    } else if (words) {
      location.hash = address;
    }
  }

  pressInSearch(event) {
    if (event.key === "Escape") {
      this.input.blur();
    } else if (this.screen instanceof SearchScreen && ["ArrowDown", "Enter"].includes(event.key)) {
      event.preventDefault();
      this.screen.enter(event.key === "Enter");
    }
  }

  pressKey(event) {
    const isTyping = event.target.closest?.("input, textarea, select");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.input.focus();
    this.input.select();
  }

  showState() {
    const { state } = feed;
    this.banner.hidden = state !== "stale";
    setText(this.banner, state === "stale"
      ? text(feed.isLive ? "staleServer" : "stale") : "");
    document.documentElement.dataset.feed = state;
  }

  async loadMarket() {
    if (document.hidden && this.market) return;
    try {
      this.market = await gateway.market();
    } catch {
      // The banner shows that the gateway is away; the next turn tries again.
      return;
    }
    const { phase } = this.market.session;
    this.session.dataset.phase = phase;
    setText(this.session, named("phase", phase));
    this.screen?.showMarket?.(this.market);
  }

  async loadPreferences() {
    if (!session.isSignedIn) return;
    try {
      settings.adopt((await gateway.preferences()).page);
    } catch {
      // A token without the scope: what the browser keeps serves.
    }
  }

  async savePreferences() {
    if (!session.isSignedIn) return;
    try {
      await gateway.savePreferences(settings.values);
    } catch {
      // What the browser keeps serves.
    }
  }

  settingsChanged() {
    if (this.language !== settings.get("language")) {
      const focused = document.activeElement?.id;
      this.screen?.close();
      this.screen = null;
      this.build();
      this.navigate();
      this.loadMarket();
      if (focused) document.getElementById(focused)?.focus();
    } else {
      this.screen?.settingsChanged?.();
    }
  }

  sessionChanged() {
    inbox.look();
    this.loadPreferences();
    this.screen?.close();
    this.screen = null;
    this.navigate();
  }
}

function decode(parameter) {
  try {
    return decodeURIComponent(parameter);
  } catch {
    return parameter;
  }
}

export const page = new Page();
page.start();
// For the tests of the page, and for whoever looks from the browser's console.
window.candled = { page, feed };
