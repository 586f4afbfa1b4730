// The stream: one WebSocket for the whole page. A screen loads its baseline by REST and subscribes
// with the baseline's epoch and seq, so that nothing is missed between them and nothing counts
// twice. After a cut it resumes where it stopped. Changes are handed on at most once a chosen
// interval, and not while nobody looks.

import { gateway } from "./gateway.js";
import { session } from "./session.js";
import { settings } from "./settings.js";

// The gateway sends a heartbeat every 15 s.
const silenceMillisecondsMax = 17_500;
// A reconnect within this is not worth a banner.
const graceMilliseconds = 2_000;
// Full jitter: each wait is random up to a bound that doubles. Ten thousand pages that lose a
// gateway at once come back spread over four seconds, and nobody waits longer for prices.
const retryMillisecondsMin = 250;
const retryMillisecondsMax = 4_000;
const sendPauseMilliseconds = 150;
// A page that nobody looked at for so long needs no stream.
const hiddenMillisecondsMax = 60_000;

const subscribeStart = '{"action":"subscribe"';

const keysOf = ({ name, symbols = [""], intervals = [""] }) => symbols.flatMap(
  (symbol) => intervals.map((interval) => [name, symbol, interval].join("\n")));

export class Feed extends EventTarget {
  constructor() {
    super();
    this.socket = null;
    this.place = null;
    this.attempts = 0;
    this.subscriptions = new Set();
    this.waiting = [];
    this.unanswered = 0;
    this.changed = new Map();
    this.isLive = false;
    this.isServerStale = false;
    this.feeds = [];
    this.lostAt = performance.now();
  }

  start() {
    this.connect();
    this.checking = setInterval(() => this.check(), 500);
    addEventListener("online", () => this.retryNow());
    addEventListener("offline", () => this.lose(this.socket));
    document.addEventListener("visibilitychange", () => this.visibilityChanged());
    session.addEventListener("change", () => this.lose(this.socket));
    settings.addEventListener("change", () => this.refreshChanged());
  }

  // MARK: Connection

  async connect() {
    clearTimeout(this.retrying);
    if (this.socket || document.hidden) return;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = { close() {} };
    this.socket = socket;
    try {
      const ticket = session.isSignedIn ? (await gateway.ticket()).ticket : null;
      if (this.socket !== socket) return;
      const path = ticket ? `/ws?ticket=${encodeURIComponent(ticket)}` : "/ws";
      this.open(new WebSocket(`${scheme}://${location.host}${path}`));
    } catch {
      this.lose(socket);
    }
  }

  open(socket) {
    this.socket = socket;
    this.lastMessageAt = performance.now();
    socket.onopen = () => this.resume();
    socket.onmessage = ({ data }) => {
      if (socket !== this.socket) return;
      this.lastMessageAt = performance.now();
      this.receive(JSON.parse(data));
    };
    socket.onclose = () => this.lose(socket);
  }

  // `since` is when the last message came, if that is long ago.
  lose(socket, since = performance.now()) {
    if (!socket || socket !== this.socket) return;
    this.socket = null;
    this.waiting = [];
    this.unanswered = 0;
    if (this.isLive) this.lostAt = since;
    this.isLive = false;
    if (socket instanceof WebSocket) {
      socket.onclose = null;
      socket.close();
    }
    const bound = Math.min(retryMillisecondsMin * 2 ** this.attempts, retryMillisecondsMax);
    this.attempts += 1;
    clearTimeout(this.retrying);
    this.retrying = setTimeout(() => this.connect(), Math.random() * bound);
    this.announce();
  }

  retryNow() {
    if (!this.isLive) this.lose(this.socket);
    if (!this.socket) this.connect();
  }

  check() {
    const silence = performance.now() - (this.lastMessageAt ?? Infinity);
    if (this.socket && silence > silenceMillisecondsMax) {
      const since = this.lastMessageAt;
      this.lastMessageAt = undefined;
      this.lose(this.socket, since);
    }
    this.announce();
  }

  // live; connecting, for the first moments; stale, when the page shows what may be old.
  get state() {
    if (this.isLive) return this.isServerStale ? "stale" : "live";
    return performance.now() - this.lostAt > graceMilliseconds ? "stale" : "connecting";
  }

  announce() {
    if (this.state === this.announced) return;
    this.announced = this.state;
    this.dispatchEvent(new Event("state"));
  }

  visibilityChanged() {
    clearTimeout(this.hiding);
    if (document.hidden) {
      this.hiding = setTimeout(() => {
        const { socket } = this;
        this.socket = null;
        this.isLive = false;
        this.lostAt = Infinity;
        if (socket instanceof WebSocket) {
          socket.onclose = null;
          socket.close(1000);
        }
      }, hiddenMillisecondsMax);
    } else {
      if (this.lostAt === Infinity) this.lostAt = performance.now();
      if (!this.socket) this.connect();
      this.flush();
    }
  }

  // MARK: Subscriptions

  // `channel` is one of the gateway's: { name, symbols, intervals }. `after` is the epoch and seq
  // of a baseline. `listener` gets { stocks }, { candles }, { gap }… or { resync: true }.
  // Returns a function that ends it.
  subscribe(channel, listener, after = null) {
    const subscription = { channel, listener, after };
    const isNew = this.subscriptions.size === 0 || keysOf(channel).some(
      (key) => ![...this.subscriptions].some((other) => keysOf(other.channel).includes(key)));
    this.subscriptions.add(subscription);
    if (isNew || after) this.send("subscribe", [channel], after);
    return () => {
      if (!this.subscriptions.delete(subscription)) return;
      const kept = new Set([...this.subscriptions].flatMap((other) => keysOf(other.channel)));
      const { symbols } = channel;
      const gone = symbols?.filter((symbol) => !keysOf({ ...channel, symbols: [symbol] })
        .some((key) => kept.has(key)));
      if (!symbols && keysOf(channel).some((key) => kept.has(key))) return;
      if (!symbols || gone.length) this.send("unsubscribe", [{ ...channel, symbols: gone }]);
    };
  }

  withRefresh(channel) {
    if (channel.name !== "stock-prices") return channel;
    return { ...channel, every: `${settings.get("refreshSeconds")}s` };
  }

  send(action, channels, after = null) {
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    const message = { action, channels: channels.map((channel) => this.withRefresh(channel)) };
    if (after) message.after = { epoch: after.epoch, seq: after.seq };
    this.waiting.push(JSON.stringify(message));
    this.sending ||= setTimeout(() => this.sendWaiting());
  }

  // The gateway takes ten messages a second.
  sendWaiting() {
    this.sending = null;
    const message = this.waiting.shift();
    if (message === undefined || this.socket?.readyState !== WebSocket.OPEN) return;
    this.socket.send(message);
    if (message.startsWith(subscribeStart)) this.unanswered += 1;
    if (this.waiting.length) {
      this.sending = setTimeout(() => this.sendWaiting(), sendPauseMilliseconds);
    }
  }

  // After a cut all go on from the last message; before the first, each from its baseline.
  resume() {
    const subscriptions = [...this.subscriptions];
    if (this.place && subscriptions.length) {
      this.send("subscribe", subscriptions.map(({ channel }) => channel), this.place);
    } else {
      for (const { channel, after } of subscriptions) this.send("subscribe", [channel], after);
    }
  }

  refreshChanged() {
    if (this.refreshSeconds === settings.get("refreshSeconds")) return;
    this.refreshSeconds = settings.get("refreshSeconds");
    const channels = [...this.subscriptions].map(({ channel }) => channel)
      .filter(({ name }) => name === "stock-prices");
    if (channels.length) this.send("subscribe", channels, this.place);
  }

  // MARK: Messages

  receive(message) {
    const { type } = message;
    if (type === "subscribed" || type === "error") {
      this.unanswered = Math.max(this.unanswered - 1, 0);
    }
    if (type === "welcome") {
      this.isLive = true;
      this.attempts = 0;
      // Another database: nothing that is shown belongs to it.
      if (this.epoch !== undefined && this.epoch !== message.epoch) location.reload();
      this.epoch = message.epoch;
    } else if (type === "snapshot" || type === "stock-prices") {
      this.take(message.data);
    } else if (type === "candles") {
      this.hand("candles", message.data);
    } else if (type === "gap" || type === "gap-closed") {
      this.hand("gaps", message.data);
    } else if (["certificate", "event", "minute-complete"].includes(type)) {
      this.hand("market", message.data ?? [message]);
    } else if (type === "heartbeat") {
      this.isServerStale = message.stale === true;
      this.feeds = message.feeds ?? [];
      this.dispatchEvent(new Event("heartbeat"));
    } else if (type === "resync" || (type === "subscribed" && message.recovered === false)) {
      for (const { listener } of [...this.subscriptions]) listener({ resync: true });
    }
    // Prices of a commit come before its candles, and what a subscription missed comes after its
    // answer: only where all of that is there is it a place to go on from.
    const isPlace = ["heartbeat", "candles", "gap", "gap-closed"].includes(type)
      && this.waiting.length === 0 && this.unanswered === 0;
    if (isPlace && message.seq !== undefined) {
      this.place = { epoch: this.epoch, seq: message.seq };
    }
    this.announce();
  }

  hand(name, data) {
    for (const { channel, listener } of [...this.subscriptions]) {
      if (channel.name !== name) continue;
      const wanted = data.filter((row) => !channel.symbols || !row.symbol
        || channel.symbols.includes(row.symbol));
      if (wanted.length) listener({ [name]: wanted });
    }
  }

  take(stocks) {
    for (const stock of stocks) this.changed.set(stock.id, stock);
    if (document.hidden || this.flushing) return;
    const pause = this.flushedAt + settings.get("refreshSeconds") * 1000 - performance.now();
    this.flushing = setTimeout(() => this.flush(), Math.max(pause || 0, 0));
  }

  flush() {
    clearTimeout(this.flushing);
    this.flushing = null;
    if (document.hidden || this.changed.size === 0) return;
    this.flushedAt = performance.now();
    const stocks = [...this.changed.values()];
    this.changed.clear();
    for (const { channel, listener } of [...this.subscriptions]) {
      if (channel.name !== "stock-prices") continue;
      const wanted = stocks.filter(({ symbol }) => channel.symbols.includes(symbol));
      if (wanted.length) listener({ stocks: wanted });
    }
  }
}

export const feed = new Feed();
