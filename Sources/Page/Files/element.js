// Builds elements without markup: text stays text, and the Content-Security-Policy can forbid
// everything inline.

const vectorNames = new Set(["svg", "path", "circle", "rect", "polyline"]);

// element("button", { class: "quiet", "aria-label": "…", onclick: action }, children…)
export function element(name, properties = {}, ...children) {
  const node = vectorNames.has(name)
    ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined
    && child !== false));
  return node;
}

// Sets text only where it differs, so that nothing is laid out, or read out, again.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const shapes = {
  home: "M3 11 12 3l9 8v9a1 1 0 0 1-1 1h-5v-6H9v6H4a1 1 0 0 1-1-1z",
  list: "M4 6h16M4 12h16M4 18h10",
  pulse: "M2 12h5l3-8 4 16 3-8h5",
  gear: "M12 8.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 "
    + "17l2 2M5 19l2-2M17 7l2-2",
  trade: "M3 8h15M14 4l4 4-4 4M21 16H6M10 12l-4 4 4 4",
  bell: "M6 16V10a6 6 0 0 1 12 0v6l2 2H4zM10 21h4",
  eye: "M2 12s3.6-6.5 10-6.5S22 12 22 12s-3.6 6.5-10 6.5S2 12 2 12zM12 9.2a2.8 2.8 0 1 0 0 5.6 2.8 "
    + "2.8 0 0 0 0-5.6z",
  eyeClosed: "M3 3l18 18M6.5 7.2C3.6 9 2 12 2 12s3.6 6.5 10 6.5c1.7 0 3.2-.5 4.5-1.1M10 5.7a11 11 "
    + "0 0 1 2-.2C18.4 5.5 22 12 22 12s-.8 1.5-2.4 3.1",
  tick: "M4 12.5l5.5 5.5L20 6.5",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5 21 21",
  heart: "M12 20s-8-4.6-8-10.2A4.3 4.3 0 0 1 12 7.6a4.3 4.3 0 0 1 8 2.2C20 15.4 12 20 12 20z",
  close: "M5 5l14 14M19 5 5 19",
  up: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  grip: "M9 6h.01M15 6h.01M9 12h.01M15 12h.01M9 18h.01M15 18h.01",
};

export function icon(name) {
  return element("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" },
    element("path", { d: shapes[name] }));
}

export function replace(node, ...children) {
  node.replaceChildren(...children.flat().filter(Boolean));
}
