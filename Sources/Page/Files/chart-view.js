// Which part of a chart is seen, and where ticks stand on its axes.

const spanMin = 12;

// A window over the slots of a series: `first` is the slot at the left edge, with a fraction.
export class ChartView {
  constructor(slotCount) {
    this.slotCount = slotCount;
    this.fit();
  }

  fit() {
    this.first = 0;
    this.span = Math.max(this.slotCount, spanMin);
  }

  get end() { return this.first + this.span; }

  get isWhole() { return this.first <= 0 && this.end >= this.slotCount; }

  // A new slot at the end moves the window along if it showed the end.
  resize(slotCount) {
    const added = slotCount - this.slotCount;
    const showedEnd = this.end >= this.slotCount;
    const wasWhole = this.isWhole;
    this.slotCount = slotCount;
    if (wasWhole) this.fit();
    else if (showedEnd) this.first += added;
    this.clamp();
  }

  pan(slots) {
    this.first += slots;
    this.clamp();
  }

  // `anchor`, 0…1, is the place of the window that stays.
  zoom(factor, anchor = 0.5) {
    const fixed = this.first + this.span * anchor;
    this.span = Math.min(Math.max(this.span * factor, spanMin), Math.max(this.slotCount, spanMin));
    this.first = fixed - this.span * anchor;
    this.clamp();
  }

  show(slot) {
    if (slot < this.first) this.first = slot;
    else if (slot + 1 > this.end) this.first = slot + 1 - this.span;
    this.clamp();
  }

  clamp() {
    this.first = Math.min(Math.max(this.first, 0), Math.max(this.slotCount - this.span, 0));
  }
}

// Round numbers between two prices, `places` of them written after the point.
export function priceTicks(low, high, countMax) {
  if (!(high > low)) return { ticks: [low], places: 2 };
  const rough = (high - low) / Math.max(countMax, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) * power;
  const ticks = [];
  for (let index = Math.ceil(low / step); index * step <= high; index += 1) {
    ticks.push(index * step);
  }
  const places = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) + (/^25/.test(
    step.toPrecision(2).replace(/[.0]/g, "")) ? 1 : 0);
  return { ticks, places: Math.min(Math.max(places, 2), 4) };
}

const stepsOfMinutes = [5, 10, 15, 30, 60, 120];

// From so many slots between two labels on, only beginnings of months or years are labelled.
const monthGap = 20;

// Labels of the time axis: [{ slot, text, isStrong }], at least `gap` slots apart. Days, months or
// years begin with a strong one.
export function timeTicks(series, view, gap) {
  const first = Math.max(Math.floor(view.first), 0);
  const last = Math.min(Math.ceil(view.end), series.slotCount);
  if (series.minutes) return minuteTicks(series, first, last, gap);
  if (gap >= monthGap) {
    const months = series.months.map(({ label, slot }, index) => {
      const isYear = series.months[index - 1]?.label.slice(0, 4) !== label.slice(0, 4);
      return { slot, text: isYear ? label.slice(0, 4) : label, rank: isYear ? 2 : 1 };
    });
    return spread(months.filter(({ slot }) => slot >= first && slot < last), gap);
  }
  const candidates = [];
  let previous = first > 0 ? series.wallTime(first - 1) : null;
  for (let slot = first; slot < last; slot += 1) {
    const wall = series.wallTime(slot);
    candidates.push({ slot, ...labelOf(wall, previous, /m$/.test(series.interval)) });
    previous = wall;
  }
  return spread(candidates, gap);
}

function labelOf(wall, previous, isIntraday) {
  const begins = (length) => wall.day.slice(0, length) !== previous?.day.slice(0, length);
  if (isIntraday) {
    if (begins(10)) return { text: wall.day.slice(5), rank: 2 };
    return { text: wall.time, rank: wall.time.endsWith(":00") ? 1 : 0, isWeak: true };
  }
  if (begins(4)) return { text: wall.day.slice(0, 4), rank: 2 };
  if (begins(7)) return { text: wall.day.slice(0, 7), rank: 1 };
  return { text: wall.day.slice(5), rank: 0 };
}

function minuteTicks(series, first, last, gap) {
  const step = stepsOfMinutes.find(
    (minutes) => minutes >= series.minutes && minutes / series.minutes >= gap);
  const candidates = [];
  const hasDays = series.days.length > 1;
  const stride = step === undefined ? series.slotsPerDay : step / series.minutes;
  for (let slot = Math.ceil(first / stride) * stride; slot < last; slot += stride) {
    const isDay = slot % series.slotsPerDay === 0;
    const { day, time } = series.wallTime(slot);
    candidates.push(
      isDay && hasDays ? { slot, text: day.slice(5), rank: 2 } : { slot, text: time, rank: 0 });
  }
  return spread(candidates, gap);
}

// The strongest labels first; others where there is room.
function spread(candidates, gap) {
  const taken = [];
  for (const rank of [2, 1, 0]) {
    const before = taken.length;
    for (const tick of candidates) {
      if (tick.rank !== rank) continue;
      const near = nearest(taken, tick.slot, before);
      if (near >= gap && (taken.length === before
        || tick.slot - taken.at(-1).slot >= gap)) {
        taken.push(tick);
      }
    }
    taken.sort((one, other) => one.slot - other.slot);
  }
  return taken.map(
    ({ slot, text, rank, isWeak }) => ({ slot, text, isStrong: rank > 0 && !isWeak }));
}

// How far the nearest of the first `count` ticks, which are in order, is away.
function nearest(ticks, slot, count) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ticks[middle].slot < slot) low = middle + 1;
    else high = middle;
  }
  const after = low < count ? ticks[low].slot - slot : Infinity;
  const before = low > 0 ? slot - ticks[low - 1].slot : Infinity;
  return Math.min(after, before);
}
