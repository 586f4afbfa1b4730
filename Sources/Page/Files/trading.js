// The gateway's API of accounts, orders, queue purchases and portfolios.

import { query, request } from "./gateway.js";


// Of an account, where one was chosen.
const of = (path, values = {}) => {
  const words = query(values);
  return words ? `${path}?${words}` : path;
};

// Not crypto.randomUUID: it is for HTTPS alone.
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const post = (path, body, key = newKey()) => request(path, { method: "POST", body, key });
const remove = (path) => request(path, { method: "DELETE", key: newKey() });

export const trading = {
  accounts: (signal) => request("/v1/accounts", { signal }),
  makeAccount: (name, market) => post("/v1/accounts", { name, market }),
  account: (account, signal) => request(of("/v1/account", { account }), { signal }),
  deposit: (account, body, key) => post(of("/v1/account/deposits", { account }), body, key),
  withdraw: (account, body, key) => post(of("/v1/account/withdrawals", { account }), body, key),
  transactions: (account, cursor, signal) => request(
    of("/v1/account/transactions", { account, cursor, limit: 50 }), { signal }),
  portfolio: (account, signal) => request(of("/v1/portfolio", { account }), { signal }),
  history: (account, signal) => request(of("/v1/portfolio/history", { account }), { signal }),
  orders: (values, signal) => request(of("/v1/orders", values), { signal }),
  order: (id, signal) => request(`/v1/orders/${id}`, { signal }),
  place: (account, body, key) => post(of("/v1/orders", { account }), body, key),
  cancel: (id) => remove(`/v1/orders/${id}`),
  queue: (account, signal) => request(of("/v1/queue-purchases", { account }), { signal }),
  arm: (account, body, key) => post(of("/v1/queue-purchases", { account }), body, key),
  disarm: (id) => remove(`/v1/queue-purchases/${id}`),
};

export const alerts = {
  all: (signal) => request("/v1/alerts", { signal }),
  make: (body) => post("/v1/alerts", body),
  remove: (id) => request(`/v1/alerts/${id}`, { method: "DELETE" }),
  inbox: (cursor, signal) => request(of("/v1/notifications", { cursor, limit: 50 }), { signal }),
  unread: (signal) => request(of("/v1/notifications", { unread: true, limit: 1 }), { signal }),
  read: (id) => request(`/v1/notifications/${id}/read`, { method: "PUT" }),
  hide: (id) => request(`/v1/notifications/${id}`, { method: "DELETE" }),
};
