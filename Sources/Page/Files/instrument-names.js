// Names of instruments that answers name by their symbol alone; each is asked for once.

import { gateway } from "./gateway.js";

export class Names {
  constructor() { this.names = new Map(); }

  of(symbol) { return this.names.get(symbol) ?? symbol; }

  async find(symbols, signal) {
    const unknown = [...new Set(symbols)].filter((symbol) => symbol && !this.names.has(symbol));
    if (unknown.length === 0) return;
    try {
      const { stocks } = await gateway.stocks(unknown, signal);
      for (const { symbol, name } of stocks) this.names.set(symbol, name ?? symbol);
    } catch (problem) {
      // Symbols serve meanwhile.
      if (!problem.code) throw problem;
    }
  }
}
