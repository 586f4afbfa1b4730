// The gateway's REST API. Answers are JSON; errors become a GatewayProblem with the gateway's own
// code and title.

import { session } from "./session.js";

const timeoutMilliseconds = 15_000;
// A gateway that is busy, or waits for its database, names a time to ask again.
const triesMax = 4;
const pauseSecondsMax = 5;

export class GatewayProblem extends Error {
  constructor({ status = 0, code = "unreachable", title = "", nearest = [], retryAfter = 0 }) {
    super(title || code);
    Object.assign(this, { status, code, title, nearest, retryAfter });
  }
}

export async function request(path, options = {}) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await requestOnce(path, options);
    } catch (problem) {
      // A change that found no database may have been made nevertheless.
      const isPutOff = problem.status === 429
        || (problem.status === 503 && (options.method ?? "GET") === "GET");
      if (!isPutOff || !problem.retryAfter || tries === triesMax) throw problem;
      await pause(Math.min(problem.retryAfter, pauseSecondsMax), options.signal);
    }
  }
}

const pause = (seconds, signal) => new Promise((resolve, reject) => {
  const waiting = setTimeout(resolve, seconds * 1000);
  signal?.addEventListener("abort", () => {
    clearTimeout(waiting);
    reject(signal.reason);
  }, { once: true });
});

async function requestOnce(path, { method = "GET", body, key, signal } = {}) {
  const headers = {};
  if (key) headers["Idempotency-Key"] = key;
  if (session.token) headers.Authorization = `Bearer ${session.token}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const timeout = AbortSignal.timeout(timeoutMilliseconds);
  let response;
  try {
    response = await fetch(path, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new GatewayProblem({});
  }
  if (response.status === 204) return null;
  let answer = null;
  try {
    answer = await response.json();
  } catch (error) {
    if (signal?.aborted) throw error;
  }
  if (response.ok && answer !== null) return answer;
  if (response.status === 401 && session.isSignedIn) session.refuse();
  // Without an answer of the gateway's own, what is before it has answered.
  const retryAfter = Number(response.headers.get("Retry-After"));
  throw new GatewayProblem({ status: response.status, retryAfter, ...answer });
}

export const query = (values) => new URLSearchParams(
  Object.entries(values).filter(([, value]) => value !== null && value !== undefined)).toString();

// As many as the gateway takes at once: a long list is asked for in parts.
const symbolsAtOnce = 500;

async function stocks(symbols, signal) {
  const parts = [];
  for (let first = 0; first < symbols.length; first += symbolsAtOnce) {
    parts.push(symbols.slice(first, first + symbolsAtOnce).join(","));
  }
  const answers = await Promise.all(parts.map(
    (part) => request(`/v1/stocks?${query({ symbols: part })}`, { signal })));
  // Streams go on from the oldest of them.
  const oldest = answers.reduce((one, other) => (
    other.epoch < one.epoch || (other.epoch === one.epoch && other.seq < one.seq) ? other : one));
  return { ...oldest, stocks: answers.flatMap((answer) => answer.stocks) };
}

const listed = (id, symbol) => `/v1/watchlists/${id}/symbols/${encodeURIComponent(symbol)}`;
const stock = (symbol) => `/v1/stocks/${encodeURIComponent(symbol)}`;

export const gateway = {
  market: (signal) => request("/v1/market", { signal }),
  sources: (signal) => request("/v1/sources", { signal }),
  stock: (symbol, signal) => request(stock(symbol), { signal }),
  stocks,
  search: (text, signal) => request(`/v1/stocks?${query({ q: text, limit: 30 })}`, { signal }),
  sorted: (sort, order, limit, signal) => request(
    `/v1/stocks?${query({ sort, order, limit })}`, { signal }),
  history: (symbol, values, signal) => request(
    `${stock(symbol)}/history?${query({ format: "columns", ...values })}`, { signal }),
  why: (symbol, at, interval, signal) => request(
    `${stock(symbol)}/why?${query({ at, interval })}`, { signal }),
  gaps: (symbol, signal) => request(`${stock(symbol)}/gaps`, { signal }),
  revisions: (symbol, from, to, signal) => request(
    `${stock(symbol)}/revisions?${query({ from, to })}`, { signal }),
  coverage: (values, signal) => request(`/v1/coverage?${query(values)}`, { signal }),
  disagreements: (values, signal) => request(`/v1/disagreements?${query(values)}`, { signal }),
  ticket: () => request("/v1/tickets", { method: "POST" }),
  preferences: () => request("/v1/preferences"),
  // Other apps have members of their own beside it.
  savePreferences: (page) => request("/v1/preferences", { method: "PATCH", body: { page } }),
  watchlists: (signal) => request("/v1/watchlists", { signal }),
  makeWatchlist: (name) => request("/v1/watchlists", { method: "POST", body: { name } }),
  renameWatchlist: (id, name) => request(`/v1/watchlists/${id}`, { method: "PUT", body: { name } }),
  deleteWatchlist: (id) => request(`/v1/watchlists/${id}`, { method: "DELETE" }),
  setSymbols: (id, symbols) => request(
    `/v1/watchlists/${id}/symbols`, { method: "PUT", body: { symbols } }),
  putSymbol: (id, symbol, triggers = {}) => request(
    listed(id, symbol), { method: "PUT", body: triggers }),
  removeSymbol: (id, symbol) => request(listed(id, symbol), { method: "DELETE" }),
};
