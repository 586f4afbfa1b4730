// Figures as people read them. Amounts are text from the gateway and stay text: digits are grouped,
// cut of trailing zeros, or shortened by the browser's exact decimal formatter; none becomes a
// floating-point number.

import { settings } from "./settings.js";

export const nothing = "–";
// Kinds as the API names them, of which some have ticks of thousandths; all others' are hundredths.
const placesOfKind = { fund: 3, convertible_bond: 3, b_share: 3, repo: 3 };
const minus = "−";
const hidden = "••••";

// Indexes are points, of which two places are read; the formatter rounds the decimal text itself.
const points = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });

// A price with its digits, but for zeros behind the usual two or three places.
export function price(text, kind) {
  if (text === null || text === undefined) return nothing;
  if (kind === "index") return points.format(text).replace("-", minus);
  const [whole, fraction = ""] = text.replace("-", "").split(".");
  const places = placesOfKind[kind] ?? 2;
  let end = fraction.length;
  while (end > places && fraction[end - 1] === "0") end -= 1;
  const digits = fraction.slice(0, end).padEnd(places, "0");
  return `${text.startsWith("-") ? minus : ""}${grouped(whole)}.${digits}`;
}

// As it is typed into a field: without groups.
export const typed = (text, kind) => (text ? price(text, kind).replaceAll(",", "") : "");

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ",");

// With its sign, for changes.
export function signed(text, kind) {
  if (text === null || text === undefined) return nothing;
  return direction(text) === "rising" ? `+${price(text, kind)}` : price(text, kind);
}

export function percent(text) {
  return text === null || text === undefined ? nothing : `${signed(text)}%`;
}

// rising, falling or flat, for colours.
export function direction(text) {
  if (!text || !/[1-9]/.test(text)) return "flat";
  return text.startsWith("-") ? "falling" : "rising";
}

const formatters = new Map();

function formatter(language) {
  if (!formatters.has(language)) {
    formatters.set(language, new Intl.NumberFormat(language === "zh" ? "zh-CN" : "en", {
      notation: "compact", minimumFractionDigits: 2, maximumFractionDigits: 2,
    }));
  }
  return formatters.get(language);
}

// 37296300 as 37.30M or 3729.63万. The formatter takes decimal text and is exact.
export function compact(text) {
  if (text === null || text === undefined) return nothing;
  if (!/[1-9]/.test(text)) return "0";
  const isSmall = /^-?\d{1,3}(\.|$)/.test(text);
  return isSmall ? text.replace(/\.0*$/, "") : formatter(settings.get("language")).format(text);
}

// Money to the cent, with its digits beyond; dots where the person hides amounts.
export function money(text) {
  return settings.get("hidesAmounts") && text ? hidden : price(text);
}

export function signedMoney(text) {
  return settings.get("hidesAmounts") && text ? hidden : signed(text);
}

export function whole(text) {
  if (text === null || text === undefined) return nothing;
  const [digits, fraction] = String(text).split(".");
  const rest = fraction && /[1-9]/.test(fraction) ? `.${fraction}` : "";
  return grouped(digits) + rest;
}

// Times carry their exchange's clock; that is the clock that is shown.
export const clock = (text) => (text ? text.slice(11, 19) : nothing);
export const clockMinutes = (text) => (text ? text.slice(11, 16) : nothing);
export const day = (text) => (text ? text.slice(0, 10) : nothing);
// Of a table's rows, whose year is known.
export const shortMoment = (text) => (text ? text.slice(5, 19).replace("T", " ") : nothing);
export const moment = (text) => (text ? `${day(text)} ${clock(text)}` : nothing);

// Sameness of two prices that may be written with different zeros; for marks, not for sums.
export const isSame = (one, other) => Boolean(one && other) && price(one, "fund")
  .replace(/0+$/, "") === price(other, "fund").replace(/0+$/, "");

// Where a value lies between two others, 0…1, for the length of a bar.
export function share(text, low, high) {
  if (!text || !low || !high || !(+high > +low)) return null;
  return Math.min(Math.max((+text - +low) / (+high - +low), 0), 1);
}

const shanghai = new Intl.DateTimeFormat("en-GB", {
  timeZone: "Asia/Shanghai", hour: "2-digit", minute: "2-digit", second: "2-digit",
});

const shanghaiDay = new Intl.DateTimeFormat("sv-SE", { timeZone: "Asia/Shanghai" });

export const shanghaiMoment = (text) => (text
  ? `${shanghaiDay.format(new Date(text))} ${shanghaiClock(text)}` : nothing);

// A time that is not of an exchange, on Shanghai's clock.
export const shanghaiClock = (text) => (text ? shanghai.format(new Date(text)) : nothing);
