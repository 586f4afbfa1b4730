/**
 * Follows the prices of a candled gateway over a WebSocket and shows them in the table of
 * index.html. `Prices` knows nothing of the page: another one may take it.
 */

const retrySecondsMin = 0.5;
const retrySecondsMax = 30;
// A gateway that stops closes all its streams at once: they must not come back at once.
const goingAway = { code: 1001, seconds: 5 };
// No token in time; not allowed, or revoked; too many streams of the token.
const finalCodes = new Set([4401, 4403, 4409]);

export class Prices {
  #socket;
  #silence;
  #heartbeatSeconds = 15;
  #attempts = 0;
  #epoch;
  // Where to resume; undefined until a whole snapshot has arrived.
  #after;

  /**
   * @param {string} address like "wss://example.com/ws"
   * @param {{token?: string, symbols: string[],
   *   onStocks: (stocks: object[]) => void,
   *   onState: (isStale: boolean, text: string) => void}} options
   */
  constructor(address, options) {
    Object.assign(this, { address, options });
    this.#connect();
  }

  close() {
    this.isClosed = true;
    this.#socket?.close();
  }

  #connect() {
    if (this.isClosed) return;
    const socket = new WebSocket(this.address, "candled.v1");
    const isCurrent = () => socket === this.#socket && !this.isClosed;
    const send = (message) => socket.send(JSON.stringify(message));
    socket.onopen = () => {
      const { token, symbols } = this.options;
      if (token) send({ action: "auth", token });
      const channels = [{ name: "stock-prices", symbols }];
      send({ action: "subscribe", id: 1, after: this.#after, channels });
    };
    socket.onmessage = ({ data }) => isCurrent() && this.#take(JSON.parse(data));
    socket.onclose = ({ code, reason }) => isCurrent() && this.#lose(code, reason);
    this.#socket = socket;
    this.#expectMessage();
  }

  #take(message) {
    this.#expectMessage();
    switch (message.type) {
      case "welcome":
        this.#epoch = message.epoch;
        this.#heartbeatSeconds = message.heartbeatSeconds;
        break;
      case "snapshot":
      case "stock-prices":
        this.options.onStocks(message.data);
        if (message.part === message.parts) this.#advance(message.seq);
        break;
      case "heartbeat": {
        const silent = message.feeds.filter((feed) => feed.stale).map((feed) => feed.source);
        this.#advance(message.seq, silent);
        break;
      }
      case "resync": // A whole snapshot follows.
        this.#epoch = message.epoch;
        this.#after = undefined;
        break;
      case "error":
        this.options.onState(true, message.title);
    }
  }

  #advance(seq, silent = []) {
    this.#after = { epoch: this.#epoch, seq };
    this.#attempts = 0;
    const isStale = silent.length > 0;
    this.options.onState(isStale, isStale ? `stale: nothing new from ${silent}` : "live");
  }

  // Pings do not reach a page; heartbeats do.
  #expectMessage() {
    clearTimeout(this.#silence);
    const socket = this.#socket;
    const secondsMax = 2 * this.#heartbeatSeconds + 5;
    this.#silence = setTimeout(() => {
      if (this.isClosed) return;
      this.#lose(undefined, "the gateway sends nothing");
      socket.close();
    }, secondsMax * 1000);
  }

  #lose(code, reason) {
    clearTimeout(this.#silence);
    this.#socket = undefined;
    if (finalCodes.has(code)) return this.options.onState(true, `refused: ${reason} (${code})`);
    // Full jitter: any moment up to a limit that doubles with each attempt.
    const limit = Math.min(retrySecondsMax, retrySecondsMin * 2 ** this.#attempts++);
    const seconds = code === goingAway.code ? Math.max(limit, goingAway.seconds) : limit;
    setTimeout(() => this.#connect(), Math.random() * seconds * 1000);
    this.options.onState(true, `stale: ${reason || "connection lost"}`);
  }
}

const stocks = new Map();
let prices, isDrawing = false;

// Strings, with the digits that the database has: no arithmetic on money here.
function row({ symbol, name, currentPrice, change, changePercent, quotedAt }) {
  const row = document.createElement("tr");
  const time = quotedAt.slice(11, 19);
  for (const text of [symbol, name, currentPrice, change, changePercent, time]) {
    row.insertCell().textContent = text ?? "–";
  }
  if (/[1-9]/.test(change ?? "")) row.className = change.startsWith("-") ? "falling" : "rising";
  return row;
}

function draw() {
  isDrawing = false;
  document.querySelector("#table tbody").replaceChildren(...[...stocks.values()].map(row));
}

document.querySelector("#form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const { gateway, symbols, token } = Object.fromEntries(new FormData(event.target));
  prices?.close();
  stocks.clear();
  prices = new Prices(gateway, {
    token,
    symbols: symbols.split(/[\s,]+/).filter(Boolean),
    onStocks(changed) {
      for (const stock of changed) stocks.set(stock.symbol, stock);
      // Once a frame, and not while nobody sees the page.
      if (!isDrawing) requestAnimationFrame(draw);
      isDrawing = true;
    },
    onState(isStale, text) {
      document.querySelector("#state").textContent = text;
      document.querySelector("#table").classList.toggle("stale", isStale);
    },
  });
});
