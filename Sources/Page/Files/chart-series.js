// The candles of a chart: what the gateway answered, as columns of text, and beside them numbers,
// which serve for nothing but pixels. A candle has a slot, its place on the axis. In Shanghai each
// trading minute has one, whether or not a candle is stored, so that what is missing leaves room,
// while lunch, nights and holidays have none. Elsewhere, and above an hour, slots are the candles.

const textFields = [
  "openedAt", "closedAt", "tradingDay", "open", "high", "low", "close", "volume", "turnover",
  "vwap", "state", "revision", "flags",
];
const numberFields = ["open", "high", "low", "close", "volume", "vwap"];
const minutesOf = { "1m": 1, "5m": 5, "15m": 15, "30m": 30, "60m": 60 };
const minutesOfDay = 240;
const morningOpens = 9 * 60 + 30;
const afternoonOpens = 13 * 60;
const afternoonCloses = 15 * 60;
const minutesOfMorning = 120;

// The minute of the day in a time as the gateway writes it, with its exchange's own clock:
// "2026-07-06T09:31:00+08:00".
function minuteOfDay(text) {
  const digit = (place) => text.charCodeAt(place) - 48;
  return (digit(11) * 10 + digit(12)) * 60 + digit(14) * 10 + digit(15);
}

// Which of Shanghai's 240 trading minutes it is; times outside of sessions go to the next one.
function sessionMinute(text) {
  const minute = minuteOfDay(text);
  if (minute >= afternoonOpens) {
    return Math.min(minute - afternoonOpens + minutesOfMorning, minutesOfDay - 1);
  }
  return Math.min(Math.max(minute - morningOpens, 0), minutesOfMorning);
}

// A decimal as the nearest number, as `+text` gives it, in a third of the time: digits and their
// power of ten are both exact up to 15 digits, and so the division rounds once.
function number(text) {
  if (text === null) return NaN;
  const length = text.length;
  if (length > 16) return +text;
  let digits = 0;
  let scale = 1;
  let isFraction = false;
  const isNegative = text.charCodeAt(0) === 45;
  for (let place = isNegative ? 1 : 0; place < length; place += 1) {
    const code = text.charCodeAt(place);
    if (code === 46) {
      isFraction = true;
      continue;
    }
    digits = digits * 10 + code - 48;
    if (isFraction) scale *= 10;
  }
  return (isNegative ? -digits : digits) / scale;
}

const twoDigits = (number) => String(number).padStart(2, "0");

export class CandleSeries {
  // `days` are trading days that have slots even where the answer has no candle of them: a picture
  // of the past keeps the axis of the present.
  constructor(answer, { days = [], isThinned = false } = {}) {
    this.symbol = answer.symbol;
    this.interval = answer.interval;
    this.timeZone = answer.timeZone;
    this.epoch = answer.epoch;
    this.seq = answer.seq;
    this.isThinned = isThinned;
    this.text = answer.columns ?? CandleSeries.columns(answer.rows ?? []);
    this.numbers = {};
    const minutes = minutesOf[answer.interval];
    const hasSlots = minutes !== undefined && answer.timeZone === "Asia/Shanghai" && !isThinned;
    // Where each month begins: [{ label: "2026-07", slot }].
    this.months = [];
    this.minutes = hasSlots ? minutes : null;
    this.slotsPerDay = hasSlots ? minutesOfDay / minutes : 0;
    this.days = [];
    this.dayPlaces = new Map();
    if (hasSlots) this.addDays(days);
    this.placeAll();
    this.months = (answer.segments ?? []).map(
      ({ label, start }) => ({ label, slot: this.minutes ? this.daySlot(start) : start }));
  }

  // The first slot of a row's day.
  daySlot(row) { return this.slots[row] - (this.slots[row] % this.slotsPerDay); }

  static columns(rows) {
    return Object.fromEntries(textFields.map((name) => [name, rows.map((row) => row[name])]));
  }

  get length() { return this.text.openedAt.length; }

  // How many places the axis has.
  get slotCount() { return this.minutes ? this.days.length * this.slotsPerDay : this.length; }

  // A column as numbers. `null`, a minute without prices, becomes NaN.
  column(name) {
    if (!this.numbers[name]) {
      const text = this.text[name];
      const numbers = new Array(text.length);
      for (let row = 0; row < numbers.length; row += 1) numbers[row] = number(text[row]);
      this.numbers[name] = numbers;
    }
    return this.numbers[name];
  }

  // One value of a column, without reading the whole of it.
  value(name, row) { return this.numbers[name]?.[row] ?? number(this.text[name][row]); }

  addDays(days) {
    const known = new Set(this.days);
    for (const day of days) known.add(day);
    if (known.size === this.days.length) return false;
    this.days = [...known].sort();
    this.dayPlaces = new Map(this.days.map((day, index) => [day, index]));
    return true;
  }

  placeAll() {
    const { openedAt } = this.text;
    const slots = new Array(openedAt.length);
    this.slots = slots;
    if (!this.minutes) {
      for (let row = 0; row < slots.length; row += 1) slots[row] = row;
      return;
    }
    const stretches = this.daysOfRows();
    this.addDays(stretches.map(({ day }) => day));
    for (const { day, from, to } of stretches) {
      const first = this.dayPlaces.get(day) * this.slotsPerDay;
      const isWhole = to - from === this.slotsPerDay;
      for (let row = from; row < to; row += 1) {
        slots[row] = first + (isWhole
          ? row - from : Math.floor(sessionMinute(openedAt[row]) / this.minutes));
      }
    }
  }

  // The rows of each day: [{ day, from, to }]. A day has no more rows than slots: where the row
  // that many places on is of the same day, none between needs to be looked at.
  daysOfRows() {
    const { tradingDay } = this.text;
    const found = [];
    let from = 0;
    while (from < tradingDay.length) {
      const day = tradingDay[from];
      let to = from + 1;
      if (tradingDay[from + this.slotsPerDay - 1] === day) to = from + this.slotsPerDay;
      else while (tradingDay[to] === day) to += 1;
      found.push({ day, from, to });
      from = to;
    }
    return found;
  }

  slotAt(day, moment) {
    const place = this.dayPlaces.get(day) ?? this.days.length;
    return place * this.slotsPerDay + Math.floor(sessionMinute(moment) / this.minutes);
  }

  // The slots that a stretch of time covers, from the first up to but without the second. On an
  // axis of candles these are the candles that begin or last within it.
  slotsWithin({ tradingDay, from, to }) {
    if (this.minutes) {
      if (!this.dayPlaces.has(tradingDay)) return null;
      const first = this.slotAt(tradingDay, from);
      const end = minuteOfDay(to) >= afternoonCloses
        ? (this.dayPlaces.get(tradingDay) + 1) * this.slotsPerDay : this.slotAt(tradingDay, to);
      return [first, Math.max(end, first + 1)];
    }
    const row = this.rowOfTime(from);
    return row === null ? null : [row, row + 1];
  }

  // The candle that was open at a time, on an axis of candles.
  rowOfTime(moment) {
    const opened = this.text.openedAt;
    const closed = this.text.closedAt;
    let [low, high] = [0, opened.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (Date.parse(opened[middle]) <= Date.parse(moment)) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return null;
    return Date.parse(moment) < Date.parse(closed[low - 1]) ? low - 1 : null;
  }

  // The first row at or behind a slot.
  rowFrom(slot) {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.slots[middle] < slot) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // The row nearest to a slot, or null of an empty series.
  rowNear(slot) {
    if (this.length === 0) return null;
    const after = Math.min(this.rowFrom(slot), this.length - 1);
    const before = Math.max(after - 1, 0);
    return slot - this.slots[before] < this.slots[after] - slot ? before : after;
  }

  candle(row) {
    if (row === null || row < 0 || row >= this.length) return null;
    return Object.fromEntries(textFields.map((name) => [name, this.text[name]?.[row] ?? null]));
  }

  // What the clock of the exchange shows where a slot begins: { day, time } of text.
  wallTime(slot) {
    if (!this.minutes) {
      const text = this.text.openedAt[slot];
      return text ? { day: this.text.tradingDay[slot], time: text.slice(11, 16) } : null;
    }
    const day = this.days[Math.floor(slot / this.slotsPerDay)];
    if (day === undefined) return null;
    let minute = (slot % this.slotsPerDay) * this.minutes;
    minute += minute < minutesOfMorning ? morningOpens : afternoonOpens - minutesOfMorning;
    return { day, time: `${twoDigits(Math.floor(minute / 60))}:${twoDigits(minute % 60)}` };
  }

  // Stores a candle: over the one of its slot unless that is a later revision, or as a new one.
  // Returns the row, or null where nothing changed.
  put(candle) {
    const row = this.placeOf(candle);
    if (row.isNew) return this.insert(row.place, candle);
    const { place } = row;
    const isOlder = this.text.state[place] === "final"
      && (candle.state !== "final" || candle.revision < this.text.revision[place]);
    if (isOlder) return null;
    this.write(place, candle);
    return place;
  }

  placeOf(candle) {
    const { openedAt, tradingDay } = candle;
    if (!this.minutes) {
      const moment = Date.parse(openedAt);
      let place = this.length;
      while (place > 0 && Date.parse(this.text.openedAt[place - 1]) > moment) place -= 1;
      const isThere = place > 0 && Date.parse(this.text.openedAt[place - 1]) === moment;
      return isThere ? { place: place - 1, isNew: false } : { place, isNew: true };
    }
    if (this.addDays([tradingDay])) {
      this.placeAll();
    }
    const slot = this.slotAt(tradingDay, openedAt);
    const place = this.rowFrom(slot);
    return { place, isNew: this.slots[place] !== slot };
  }

  insert(place, candle) {
    for (const name of textFields) this.text[name].splice(place, 0, candle[name] ?? null);
    for (const name of Object.keys(this.numbers)) this.numbers[name].splice(place, 0, NaN);
    if (this.minutes) {
      this.slots.splice(place, 0, this.slotAt(candle.tradingDay, candle.openedAt));
    } else {
      this.slots.push(this.slots.length);
    }
    this.write(place, candle);
    const month = candle.tradingDay.slice(0, 7);
    if (month > (this.months.at(-1)?.label ?? "")) {
      this.months.push({ label: month, slot: this.minutes ? this.daySlot(place) : place });
    }
    return place;
  }

  write(place, candle) {
    for (const name of textFields) this.text[name][place] = candle[name] ?? null;
    for (const name of numberFields) {
      const text = candle[name] ?? null;
      if (this.numbers[name]) this.numbers[name][place] = number(text);
    }
  }
}
