// Draws the parts of a chart on a canvas: each function one part, in device pixels. A colour's
// candles are one path, filled once, for thousands of fills would take the time of many frames.

const fontSize = 11;
export const tagHeight = 18;

export const font = (ratio, weight = "") =>
  `${weight} ${Math.round(fontSize * ratio)}px system-ui, "DejaVu Sans", sans-serif`.trim();

export function drawGrid(context, { layout, scale, prices, times, view, colours }) {
  const { plot, ratio } = layout;
  const line = Math.max(1, Math.round(ratio));
  context.fillStyle = colours.grid;
  for (const tick of prices.ticks) context.fillRect(plot.left, scale.y(tick), plot.width, line);
  const step = plot.width / view.span;
  for (const tick of times) {
    if (!tick.isStrong) continue;
    const x = Math.round(plot.left + (tick.slot - view.first) * step);
    if (x > plot.left) context.fillRect(x, plot.top, line, layout.axisTop - plot.top);
  }
  context.fillStyle = colours.border;
  context.fillRect(0, layout.axisTop, layout.width, line);
}

// `tags` are the heights of what stands on the price axis already.
export function drawAxes(context, { layout, scale, prices, times, view, colours, tags }) {
  const { plot, ratio } = layout;
  context.font = font(ratio);
  context.fillStyle = colours.muted;
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const tick of prices.ticks) {
    const y = scale.y(tick);
    if (y < plot.top || y > plot.top + plot.height) continue;
    if (tags.some((tag) => Math.abs(tag - y) < (tagHeight * 3 * ratio) / 4)) continue;
    context.fillText(tick.toFixed(prices.places), layout.axisLeft + 8 * ratio, y);
  }
  const step = plot.width / view.span;
  context.textAlign = "center";
  for (const tick of times) {
    const x = plot.left + (tick.slot + (tick.isStrong ? 0 : 0.5) - view.first) * step;
    context.fillStyle = tick.isStrong ? colours.text : colours.muted;
    const half = context.measureText(tick.text).width / 2 + 2 * ratio;
    const middle = Math.min(Math.max(x, half), layout.axisLeft - half);
    context.fillText(tick.text, middle, layout.axisTop + 12 * ratio);
  }
}

// Trading that was not seen: a hatched band over the whole height, with its cause on top.
export function drawBands(context, { layout, bands, colours }) {
  const { plot, ratio } = layout;
  for (const band of bands) {
    context.save();
    context.beginPath();
    context.rect(band.left, plot.top, band.width, layout.axisTop - plot.top);
    context.fillStyle = colours.gap;
    context.fill();
    context.clip();
    context.strokeStyle = colours.gapLine;
    context.lineWidth = Math.max(1, Math.round(ratio));
    context.beginPath();
    const height = layout.axisTop - plot.top;
    const stride = 8 * ratio;
    // The hatching is fixed to the plot, so that it does not swim while one pans.
    const start = Math.floor((band.left - height) / stride) * stride;
    for (let x = start; x < band.left + band.width; x += stride) {
      context.moveTo(x, layout.axisTop);
      context.lineTo(x + height, plot.top);
    }
    context.stroke();
    context.restore();
    context.font = font(ratio, "600");
    const wide = context.measureText(band.label).width + 8 * ratio;
    if (wide > band.width) continue;
    context.fillStyle = colours.gapText;
    context.textAlign = "left";
    context.textBaseline = "top";
    context.fillText(band.label, band.left + 4 * ratio, plot.top + 4 * ratio);
  }
}

export function drawVolume(context, { layout, columns, volumeMax, colours }) {
  const { volume } = layout;
  if (!volume.height || !(volumeMax > 0)) return;
  const bottom = volume.top + volume.height;
  const cut = [];
  for (const isRising of [true, false]) {
    context.beginPath();
    for (let column = 0; column < columns.count; column += 1) {
      if ((columns.close[column] >= columns.open[column]) !== isRising) continue;
      const share = columns.volume[column] / volumeMax;
      const height = Math.round(Math.min(share, 1) * volume.height);
      context.rect(columns.left[column], bottom - height, columns.width, height);
      // A bar that is cut off has a notch near its top.
      if (share > 1) cut.push(columns.left[column]);
    }
    context.fillStyle = isRising ? colours.risingVolume : colours.fallingVolume;
    context.fill();
  }
  context.fillStyle = colours.background;
  const notch = Math.round(2 * layout.ratio);
  for (const left of cut) context.fillRect(left, volume.top + 3 * notch, columns.width, notch);
}

export function drawCandles(context, { columns, scale, colours, layout }) {
  const wick = Math.max(1, Math.round(layout.ratio) - (layout.ratio > 1.5 ? 1 : 0));
  const middle = (columns.width - wick) >> 1;
  for (const isRising of [true, false]) {
    context.beginPath();
    for (let column = 0; column < columns.count; column += 1) {
      if (!columns.hasPrice(column)) continue;
      if ((columns.close[column] >= columns.open[column]) !== isRising) continue;
      const x = columns.left[column];
      const high = scale.y(columns.high[column]);
      const low = scale.y(columns.low[column]);
      context.rect(x + middle, high, Math.min(wick, columns.width), low - high + 1);
      if (columns.width === 1) continue;
      const open = scale.y(columns.open[column]);
      const close = scale.y(columns.close[column]);
      const top = Math.min(open, close);
      context.rect(x, top, columns.width, Math.max(Math.abs(open - close), 1));
    }
    context.fillStyle = isRising ? colours.rising : colours.falling;
    context.fill();
  }
}

// `values` are of columns. A missing value leaves a hole. `segments` are stretches of columns, of
// which only the `lit` one keeps its full colour; null lights all.
export function drawLine(context, { columns, scale, values, colour, layout, width, lit = null }) {
  const half = columns.width / 2;
  const stroke = (from, to, alpha) => {
    context.globalAlpha = alpha;
    context.beginPath();
    let isDown = false;
    for (let column = from; column < to; column += 1) {
      if (Number.isNaN(values[column])) {
        isDown = false;
        continue;
      }
      const x = columns.left[column] + half;
      const y = scale.y(values[column]);
      if (isDown) context.lineTo(x, y);
      else context.moveTo(x, y);
      isDown = true;
    }
    context.stroke();
  };
  context.strokeStyle = colour;
  context.lineWidth = width * layout.ratio;
  context.lineJoin = "round";
  stroke(0, columns.count, lit ? 0.35 : 1);
  if (lit) stroke(lit.from, lit.to, 1);
  context.globalAlpha = 1;
}

// Under the line, fading to the bottom.
export function drawArea(context, { columns, scale, values, colour, layout }) {
  const { plot } = layout;
  const bottom = plot.top + plot.height;
  const half = columns.width / 2;
  const fill = context.createLinearGradient(0, plot.top, 0, bottom);
  fill.addColorStop(0, colour);
  // Of the same colour: fading to transparent black is grey on the way.
  fill.addColorStop(1, colour.replace(/^rgb\((.*)\)$/, "rgba($1, 0)"));
  context.globalAlpha = 0.16;
  context.fillStyle = fill;
  context.beginPath();
  let last = null;
  for (let column = 0; column < columns.count; column += 1) {
    if (Number.isNaN(values[column])) continue;
    const x = columns.left[column] + half;
    if (last === null) context.moveTo(x, bottom);
    context.lineTo(x, scale.y(values[column]));
    last = x;
  }
  if (last !== null) context.lineTo(last, bottom);
  context.fill();
  context.globalAlpha = 1;
}

// What a reader must know of single candles: a dot above, of a revision; below, a ring for a
// candle that was seen in part, and a triangle for one whose extremes may belong to a neighbour.
export function drawMarks(context, { marks, colours, layout }) {
  const { ratio } = layout;
  const radius = 2.5 * ratio;
  for (const mark of marks) {
    context.beginPath();
    if (mark.kind === "revision") {
      context.fillStyle = colours.accent;
      context.arc(mark.x, mark.y, radius, 0, Math.PI * 2);
      context.fill();
    } else if (mark.kind === "partial") {
      context.strokeStyle = colours.warning;
      context.lineWidth = 1.5 * ratio;
      context.arc(mark.x, mark.y, radius, 0, Math.PI * 2);
      context.stroke();
    } else {
      context.fillStyle = colours.warning;
      context.moveTo(mark.x, mark.y - radius);
      context.lineTo(mark.x + radius, mark.y + radius);
      context.lineTo(mark.x - radius, mark.y + radius);
      context.fill();
    }
  }
}

// A dashed line at a price, with its value on the axis.
export function drawLevel(context, { level, scale, layout, colour, textColour, isDashed = true }) {
  const { plot, ratio } = layout;
  const y = scale.y(level.value);
  if (y < plot.top || y > plot.top + plot.height) return;
  context.strokeStyle = colour;
  context.lineWidth = Math.max(1, Math.round(ratio));
  context.setLineDash(isDashed ? [4 * ratio, 4 * ratio] : []);
  context.beginPath();
  context.moveTo(plot.left, y + 0.5);
  context.lineTo(layout.axisLeft, y + 0.5);
  context.stroke();
  context.setLineDash([]);
  if (level.text) drawTag(context, { text: level.text, y, layout, colour, textColour });
}

export function drawTag(context, { text, y, layout, colour, textColour }) {
  const { ratio } = layout;
  const height = tagHeight * ratio;
  context.font = font(ratio, "600");
  context.fillStyle = colour;
  context.fillRect(layout.axisLeft + 1, y - height / 2, layout.width - layout.axisLeft, height);
  context.fillStyle = textColour;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillText(text, layout.axisLeft + 8 * ratio, y + ratio * 0.5);
}

export function drawCrosshair(context, { layout, x, y, priceText, timeText, colours }) {
  const { plot, ratio } = layout;
  context.strokeStyle = colours.crosshair;
  context.lineWidth = Math.max(1, Math.round(ratio));
  context.setLineDash([3 * ratio, 3 * ratio]);
  context.beginPath();
  context.moveTo(x + 0.5, plot.top);
  context.lineTo(x + 0.5, layout.axisTop);
  if (y !== null) {
    context.moveTo(plot.left, y + 0.5);
    context.lineTo(layout.axisLeft, y + 0.5);
  }
  context.stroke();
  context.setLineDash([]);
  const tag = { layout, colour: colours.crosshair, textColour: colours.background };
  if (y !== null) drawTag(context, { ...tag, text: priceText, y });
  context.font = font(ratio, "600");
  const half = context.measureText(timeText).width / 2 + 6 * ratio;
  const middle = Math.min(Math.max(x, half), layout.axisLeft - half);
  context.fillStyle = colours.crosshair;
  context.fillRect(middle - half, layout.axisTop + 1, half * 2, 20 * ratio);
  context.fillStyle = colours.background;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(timeText, middle, layout.axisTop + 12 * ratio);
}
