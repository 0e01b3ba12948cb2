// Names points, finds a row in every plot, and colors points anew. The page is complete without it.
(() => {
"use strict";
const STEPS = 16, LAYERS = 8, REACH = 14, LEGEND = 172, TICK = 12.8;
const NAMESPACE = document.querySelector("svg.plot").namespaceURI;
const data = JSON.parse(document.getElementById("data").textContent);
const columns = new Map(data.columns.map((column) => [column.key, column]));
const tip = document.getElementById("tip");

// Where a value lies in the plot; the range comes from the attributes of the plot.
const place = (values, [low, high, from, to]) =>
  Float32Array.from(values, (v) => from + (v - low) / (high - low) * (to - from));

// How wide a text is on paper and on phones, where letters are largest.
const length = (text) => text.getComputedTextLength() * TICK / parseFloat(getComputedStyle(text).fontSize);

const plots = [...document.querySelectorAll("svg[data-x]")].map((svg) => {
  const { x, y, ax, ay } = svg.dataset;
  const focus = document.createElementNS(NAMESPACE, "circle");
  focus.setAttribute("class", "focus");
  focus.setAttribute("r", "7");
  focus.setAttribute("visibility", "hidden");
  svg.append(focus);
  const [low, high] = svg.querySelectorAll(".legend text");
  return {
    svg, focus, low, high, points: svg.querySelector(".points"), scale: svg.querySelector(".scale"),
    wide: length(high), caption: svg.closest("figure").querySelector(".colored"),
    response: Number(svg.dataset.response),
    px: place(columns.get(x).values, JSON.parse(ax)), py: place(columns.get(y).values, JSON.parse(ay)),
  };
});

// Equal shares of the rows for each color, equal values alike: as the static plots do it.
const stepsByRank = (values) => {
  const order = Array.from(values.keys()).sort((a, b) => values[a] - values[b]);
  const steps = new Uint8Array(values.length);
  for (let first = 0, last; first < order.length; first = last) {
    last = first + 1;
    while (last < order.length && values[order[last]] === values[order[first]]) last++;
    const step = Math.min(STEPS - 1, Math.floor((first + last) / 2 / order.length * STEPS));
    for (let i = first; i < last; i++) steps[order[i]] = step;
  }
  return steps;
};

const short = (v) => String(Number(v.toPrecision(3)));
const clip = (text, width) => {
  const letters = [...text];
  return letters.length > width ? letters.slice(0, width - 1).join("") + "…" : text;
};

const recolor = (key) => {
  const cache = new Map();
  for (const plot of plots) {
    const column = columns.get(key || plot.svg.dataset.color);
    if (!cache.has(column)) cache.set(column, stepsByRank(column.values));
    const steps = cache.get(column);
    const paths = Array.from({ length: LAYERS * STEPS }, () => []);
    for (let i = 0; i < steps.length; i++) {
      paths[i % LAYERS * STEPS + steps[i]].push(`M${plot.px[i].toFixed(1)} ${plot.py[i].toFixed(1)}h.01`);
    }
    plot.points.replaceChildren(...paths.map((d, place) => {
      const path = document.createElementNS(NAMESPACE, "path");
      path.setAttribute("class", `c${place % STEPS}`);
      path.setAttribute("d", d.join(""));
      return path;
    }));
    let low = Infinity, high = -Infinity;
    for (const v of column.values) { low = Math.min(low, v); high = Math.max(high, v); }
    plot.high.textContent = short(high);
    const shift = plot.wide - length(plot.high);
    plot.scale.setAttribute("transform", `translate(${shift} 0)`);
    // The label of the y axis has the place at the left.
    const room = plot.low.x.baseVal[0].value + shift - LEGEND;
    for (let letters = [...column.name].length; letters > 0; letters--) {
      plot.low.textContent = `${clip(column.name, letters)}: ${short(low)}`;
      if (length(plot.low) <= room) break;
    }
    plot.caption.textContent = `Colored by ${column.name}, by rank.`;
  }
};

const hide = () => {
  tip.hidden = true;
  for (const plot of plots) plot.focus.setAttribute("visibility", "hidden");
};

const show = (plot, i) => {
  const list = document.createElement("dl");
  const line = (name, value) => {
    const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
    dt.textContent = clip(name, 30);
    dd.textContent = value;
    list.append(dt, dd);
  };
  line(data.row, data.rows[i]);
  for (const column of data.columns) {
    if (column.response === null || column.response === plot.response) line(column.name, column.values[i] ?? "–");
  }
  tip.replaceChildren(list);
  tip.hidden = false;
  for (const other of plots) {
    other.focus.setAttribute("cx", other.px[i]);
    other.focus.setAttribute("cy", other.py[i]);
    other.focus.setAttribute("visibility", "visible");
  }
  // Beside the point where there is room, and never out of the window.
  const box = plot.svg.getBoundingClientRect(), scale = box.width / plot.svg.viewBox.baseVal.width;
  const x = box.left + plot.px[i] * scale, y = box.top + plot.py[i] * scale;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 14 + width < innerWidth ? x + 14 : x - 14 - width;
  tip.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 4))}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - height - 4))}px`;
};

for (const plot of plots) {
  const nearest = (event) => {
    const box = plot.svg.getBoundingClientRect(), scale = plot.svg.viewBox.baseVal.width / box.width;
    const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
    let best = -1, least = (REACH * Math.max(1, scale)) ** 2;
    for (let i = 0; i < plot.px.length; i++) {
      const distance = (plot.px[i] - x) ** 2 + (plot.py[i] - y) ** 2;
      if (distance < least) { least = distance; best = i; }
    }
    if (best < 0) hide(); else show(plot, best);
  };
  plot.svg.addEventListener("pointermove", nearest);
  plot.svg.addEventListener("pointerdown", nearest);
  plot.svg.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
  plot.svg.setAttribute("tabindex", "0");
  let order = null, at = -1;
  plot.svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") hide();
    if (!step) return;
    event.preventDefault();
    order ??= Array.from(plot.px.keys()).sort((a, b) => plot.px[a] - plot.px[b]);
    at = Math.max(0, Math.min(order.length - 1, at + step));
    show(plot, order[at]);
  });
  plot.svg.addEventListener("blur", hide);
}
document.addEventListener("pointerdown", (event) => { if (!event.target.closest("svg[data-x]")) hide(); });
addEventListener("scroll", hide, { passive: true });

document.getElementById("color").hidden = false;
const select = document.getElementById("color-by");
select.addEventListener("change", () => recolor(select.value));
// A browser may come back to a page with the last choice still made.
if (select.value) recolor(select.value);
})();
