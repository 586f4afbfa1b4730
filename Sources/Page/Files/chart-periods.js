// Which candles show which stretch of time, and candles that are made of a moving price.

// `isPhased`: so many candles that a coarse picture comes first.
const periods = {
  intraday: {
    "1d": { interval: "1m", isDay: true },
    "5d": { interval: "5m" },
    "1mo": { interval: "30m" },
  },
  daily: {
    "1mo": { interval: "1d" },
    "6mo": { interval: "1d" },
    "1y": { interval: "1d" },
    max: { interval: "1d", isPhased: true },
  },
  weekly: { "6mo": { interval: "1wk" }, "1y": { interval: "1wk" }, max: { interval: "1wk" } },
  monthly: { "1y": { interval: "1mo" }, max: { interval: "1mo" } },
};
const usualPeriod = { intraday: "1d", daily: "6mo", weekly: "max", monthly: "max" };
const usualTab = {
  "1d": "intraday", "5d": "intraday", "1mo": "daily", "6mo": "daily", "1y": "daily", max: "daily",
};

export const tabs = Object.keys(periods);
export const periodNames = ["1d", "5d", "1mo", "6mo", "1y", "max"];

// What to show after a tab or a period was chosen; the other follows where they do not fit.
export function chosen({ tab, period }, change) {
  const next = { tab, period, ...change };
  if (periods[next.tab][next.period]) return next;
  return change.tab ? { ...next, period: usualPeriod[next.tab] }
    : { ...next, tab: usualTab[next.period] };
}

export const planOf = ({ tab, period }) => periods[tab][period];

const weekOf = (day) => Math.floor((Date.parse(day) / 86_400_000 + 3) / 7);
const isSameStretch = {
  "1wk": (one, other) => weekOf(one) === weekOf(other),
  "1mo": (one, other) => one.slice(0, 7) === other.slice(0, 7),
};

const larger = (one, other) => (other === null || +one > +other ? one : other);
const smaller = (one, other) => (other === null || +one < +other ? one : other);

// The candle that a quote's newest prices belong to, for a chart of a series; null where nothing
// trades. Values are the gateway's own texts, chosen, never computed.
export function liveCandle(stock, series) {
  if (/m$/.test(series.interval)) return formingCandle(stock, series);
  if (!stock.currentPrice || !stock.openPrice) return null;
  const zone = /[+-]\d\d:\d\d$|Z$/.exec(stock.quotedAt)?.[0] ?? "Z";
  const today = {
    openedAt: `${stock.tradingDay}T09:30:00${zone}`, closedAt: null,
    tradingDay: stock.tradingDay, open: stock.openPrice, high: stock.highPrice,
    low: stock.lowPrice, close: stock.currentPrice, volume: stock.volume,
    turnover: stock.turnover, vwap: null, state: "open", revision: 0, flags: [],
  };
  const last = series.candle(series.length - 1);
  if (!last || series.interval === "1d") return today;
  if (!isSameStretch[series.interval]?.(last.tradingDay, stock.tradingDay)) return today;
  return merged(last, today);
}

function formingCandle({ forming, tradingDay }, series) {
  if (!forming) return null;
  const minute = {
    ...forming, tradingDay, closedAt: null, turnover: null, vwap: null, state: "open", revision: 0,
    flags: [],
  };
  if (series.interval === "1m") return minute;
  const last = series.candle(series.length - 1);
  if (!last || !series.minutes || !series.days.includes(tradingDay)) return minute;
  const isSame = series.slots.at(-1) === series.slotAt(tradingDay, forming.openedAt);
  return isSame ? merged(last, minute) : minute;
}

const merged = (last, newer) => ({
  ...last, high: larger(newer.high, last.high), low: smaller(newer.low, last.low),
  close: newer.close, state: "open",
});
