// Pointer, wheel, fingers and keyboard of a chart.

const wheelZoom = 0.0016;
const keyZoom = 0.75;
const keyPanShare = 0.15;
// A pointer that moved less than this between down and up has clicked.
const clickDistance = 4;

export class ChartInput {
  constructor(chart) {
    this.chart = chart;
    this.pointers = new Map();
    this.moved = 0;
    this.listening = new AbortController();
    const { host } = chart;
    const listen = (name, action, options = {}) => {
      host.addEventListener(name, action, { signal: this.listening.signal, ...options });
    };
    listen("pointerdown", (event) => this.press(event));
    listen("pointermove", (event) => this.move(event));
    listen("pointerup", (event) => this.release(event));
    listen("pointercancel", (event) => this.pointers.delete(event.pointerId));
    listen("pointerleave", () => this.chart.setHover(null));
    listen("wheel", (event) => this.wheel(event), { passive: false });
    listen("keydown", (event) => this.pressKey(event));
    listen("dblclick", () => this.change(() => this.chart.view.fit()));
    listen("blur", () => this.chart.setHover(null));
  }

  close() { this.listening.abort(); }

  get isReady() { return Boolean(this.chart.series && this.chart.columns); }

  change(action) {
    action();
    this.chart.redraw();
    this.chart.events.onView?.();
  }

  // A place of the pointer on the canvas, in device pixels.
  place(event) {
    const box = this.chart.host.getBoundingClientRect();
    const { ratio } = this.chart.layout;
    return { x: (event.clientX - box.left) * ratio, y: (event.clientY - box.top) * ratio };
  }

  slotAt(x) {
    const { layout, view, columns } = this.chart;
    return view.first + (x - layout.plot.left) / columns.step;
  }

  press(event) {
    if (!this.isReady || event.button !== 0) return;
    this.pointers.set(event.pointerId, this.place(event));
    this.moved = 0;
    this.chart.host.setPointerCapture(event.pointerId);
  }

  move(event) {
    if (!this.isReady) return;
    const place = this.place(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      this.point(place);
      return;
    }
    this.moved += Math.abs(place.x - before.x) + Math.abs(place.y - before.y);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId);
    this.pointers.set(event.pointerId, place);
    const { view, columns, layout } = this.chart;
    if (others.length === 0) {
      if (this.moved < clickDistance * layout.ratio) return;
      this.change(() => view.pan((before.x - place.x) / columns.step));
      this.point(place);
    } else {
      const other = others[0][1];
      const spread = (one) => Math.max(Math.abs(one.x - other.x), 1);
      const anchor = ((place.x + other.x) / 2 - layout.plot.left) / layout.plot.width;
      this.change(() => view.zoom(spread(before) / spread(place), anchor));
    }
  }

  release(event) {
    const wasDown = this.pointers.delete(event.pointerId);
    if (!this.isReady || !wasDown) return;
    const place = this.place(event);
    if (this.moved >= clickDistance * this.chart.layout.ratio) return;
    if (place.x >= this.chart.layout.axisLeft) return;
    this.point(place);
    const slot = Math.floor(this.slotAt(place.x));
    const row = this.chart.series.rowNear(slot);
    if (row !== null) this.chart.select(row, slot);
  }

  point({ x, y }) {
    const { chart } = this;
    if (x >= chart.layout.axisLeft) {
      chart.setHover(null);
      return;
    }
    const row = chart.series.rowNear(Math.floor(this.slotAt(x)));
    const { plot } = chart.layout;
    const isOnPlot = y >= plot.top && y <= plot.top + plot.height;
    chart.setHover(row === null ? null : { row, y: isOnPlot ? Math.round(y) : null });
  }

  // A wheel zooms at the pointer; sideways, or with Shift, it pans.
  wheel(event) {
    if (!this.isReady) return;
    event.preventDefault();
    const { view, columns, layout } = this.chart;
    const { x } = this.place(event);
    const sideways = event.shiftKey ? event.deltaY : event.deltaX;
    if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
      this.change(() => view.pan((sideways * layout.ratio) / columns.step));
    } else {
      const anchor = (x - layout.plot.left) / layout.plot.width;
      this.change(() => view.zoom(Math.exp(event.deltaY * wheelZoom), anchor));
    }
  }

  pressKey(event) {
    if (!this.isReady || event.ctrlKey || event.metaKey || event.altKey) return;
    const { chart } = this;
    const { view } = chart;
    const shift = view.span * keyPanShare;
    const actions = {
      ArrowLeft: () => (event.shiftKey ? this.change(() => view.pan(-shift)) : this.step(-1)),
      ArrowRight: () => (event.shiftKey ? this.change(() => view.pan(shift)) : this.step(1)),
      Home: () => this.go(0),
      End: () => this.go(chart.series.length - 1),
      "+": () => this.change(() => view.zoom(keyZoom)),
      "=": () => this.change(() => view.zoom(keyZoom)),
      "-": () => this.change(() => view.zoom(1 / keyZoom)),
      0: () => this.change(() => view.fit()),
      Enter: () => chart.hover && chart.select(chart.hover.row),
      Escape: () => chart.setHover(null),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  step(rows) {
    const { hover, series } = this.chart;
    this.go(hover ? hover.row + rows : series.length - 1);
  }

  go(row) {
    const { chart } = this;
    const { series } = chart;
    const place = Math.min(Math.max(row, 0), series.length - 1);
    if (place < 0) return;
    this.change(() => chart.view.show(series.slots[place]));
    chart.drawNow();
    chart.setHover({ row: place, y: null });
  }
}
