// The gateway's API of accounts, orders, queue purchases, portfolios and alerts.

import { GatewayProblem, query, request } from "./gateway.js";

// A gateway whose broker takes its time answers with the command, and where to ask for it; one that
// is done names what it made.
const outcomeMilliseconds = 1_000;
const outcomeLooksMax = 20;

// Not crypto.randomUUID: it is for HTTPS alone.
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const asked = (path, values) => `${path}?${query(values)}`;
const ask = (path, values, signal) => request(asked(path, values), { signal });

async function command(path, options) {
  let answer = await request(path, { key: newKey(), ...options });
  for (let looks = 0; answer?.state === "pending" && looks < outcomeLooksMax; looks += 1) {
    await new Promise((resolve) => { setTimeout(resolve, outcomeMilliseconds); });
    answer = await request(`/v1/commands/${answer.id}`);
  }
  if (answer?.state === "done") return made(answer);
  if (answer?.state !== "refused") return answer;
  const [code, ...sentence] = answer.answer.split(": ");
  throw new GatewayProblem({ code, title: sentence.join(": ") || code });
}

// A command has a number of its own: what it made is the order or purchase that it names.
async function made(answer) {
  const [, kind, id] = /^(order|purchase)=(\d+)/.exec(answer.answer) ?? [];
  if (kind === "order") return (await request(`/v1/orders/${id}`)).order;
  return kind ? request(`/v1/queue-purchases/${id}`) : answer;
}

// Of an account, with a key that makes it safe to send again.
const post = (path) => (account, body, key) => command(
  asked(path, { account }), { method: "POST", body, key });

export const trading = {
  accounts: (signal) => request("/v1/accounts", { signal }),
  makeAccount: (name, market) => request(
    "/v1/accounts", { method: "POST", body: { name, market } }),
  account: (account, signal) => ask("/v1/account", { account }, signal),
  deposit: post("/v1/account/deposits"),
  withdraw: post("/v1/account/withdrawals"),
  transactions: (account, cursor, signal) => ask(
    "/v1/account/transactions", { account, cursor, limit: 50 }, signal),
  portfolio: (account, signal) => ask("/v1/portfolio", { account }, signal),
  setTriggers: (account, symbol, triggers) => request(
    asked(`/v1/portfolio/${encodeURIComponent(symbol)}/triggers`, { account }),
    { method: "PUT", body: triggers }),
  history: (account, signal) => ask("/v1/portfolio/history", { account }, signal),
  orders: (values, signal) => ask("/v1/orders", values, signal),
  place: post("/v1/orders"),
  cancel: (id) => command(`/v1/orders/${id}`, { method: "DELETE" }),
  queue: (values, signal) => ask("/v1/queue-purchases", values, signal),
  arm: post("/v1/queue-purchases"),
  disarm: (id) => command(`/v1/queue-purchases/${id}`, { method: "DELETE" }),
};

export const alerts = {
  all: (signal) => request("/v1/alerts", { signal }),
  make: (body) => request("/v1/alerts", { method: "POST", body }),
  remove: (id) => request(`/v1/alerts/${id}`, { method: "DELETE" }),
  inbox: (values, signal) => ask("/v1/notifications", values, signal),
  read: (id) => request(`/v1/inbox/${id}/read`, { method: "PUT" }),
  readAll: (through) => request(asked("/v1/inbox", { through }), { method: "PUT" }),
  hide: (id) => request(`/v1/inbox/${id}`, { method: "DELETE" }),
};
