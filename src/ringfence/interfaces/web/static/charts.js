// Draws the charts of a page, and keeps them up to date.
//
//   <figure data-figure="/api/studies/NAME/figures/map">
//     <div class="canvas"></div><figcaption>...</figcaption>
//   </figure>
//
// A figure is fetched when it comes into view, when the theme changes and on the document's event
// "ringfence:change", and drawn again only if its specification has changed. `data-state` tells where it
// stands: waiting, drawn, stale (drawn, but the server does not answer) or failed.
//
// Loaded as a module, after the chart library, which sets `vegaEmbed`. Its styles, menu and tooltip stay
// off: they add style elements, which the page's policy forbids. May touch figures and their tooltip.

import { interpreter } from "./interpreter.js";

const SETTLED_MS = 120; // a width that has not changed for so long is the new one
const REST_MS = 250; // between two drawings of a figure
const PATIENCE_MS = 30_000;
const TITLE_FONT = "bold 15px sans-serif"; // as themes have it
const SUBTITLE_FONT = "12px sans-serif";
const TITLE_MARGIN = 12; // what stands free beside a title
const NARROW = 480;
const LEAST_PANEL = 230; // what is drawn of a panel, without what stands beside it
const AHEAD = "300px"; // how far below the screen a figure is drawn already

const darkness = matchMedia("(prefers-color-scheme: dark)");
const figures = new Map();
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

function theme() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return darkness.matches ? "dark" : "light";
}

class Figure {
  constructor(element) {
    this.element = element;
    this.canvas = element.querySelector(".canvas");
    this.near = false; // in view, or almost
    this.busy = false;
    this.wanted = true; // something may have changed since it was last fetched
    this.text = null; // of the specification that is drawn
    this.view = null;
    this.width = 0;
    this.fits = false; // whether its width follows the page's
    this.panels = false; // whether it has several that stand abreast where there is room
    element.dataset.state = "waiting";
  }

  address(format) {
    const url = new URL(this.element.dataset.figure, document.baseURI);
    url.searchParams.set("format", format);
    url.searchParams.set("theme", theme());
    return url.href;
  }

  // Bring it up to date, once at a time: what is asked for meanwhile is done afterwards.
  async refresh() {
    this.wanted = true;
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.wanted && this.near && !document.hidden && this.element.isConnected) {
        this.wanted = false;
        await this.renew();
        if (this.wanted) await pause(REST_MS);
      }
    } finally {
      this.busy = false;
    }
  }

  async renew() {
    let text;
    try {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      const answer = await fetch(this.address("json"), { cache: "no-cache", signal });
      if (!answer.ok) throw Error(`status ${answer.status}`);
      text = await answer.text();
    } catch (problem) {
      if (this.view) this.element.dataset.state = "stale";
      else this.fail(problem);
      return;
    }
    try {
      if (text !== this.text) await this.draw(JSON.parse(text));
      this.text = text;
      this.element.dataset.state = "drawn";
    } catch (problem) {
      this.fail(problem);
    }
  }

  // Draw out of sight, then swap: the old chart stays until the new one is complete.
  async draw(spec) {
    const width = this.canvas.clientWidth;
    const fits = spec.width === "container";
    const panels = spec.usermeta?.panels;
    if (panels) {
      placePanels(spec, panels.room, width);
      spec.title = fittedTitle(spec.title, width);
    }
    if (fits) {
      spec.width = width; // the chart is measured before it has a container
      spec.autosize ??= { type: "fit-x", contains: "padding" };
      if (spec.title?.text) spec.title = fittedTitle(spec.title, width);
      if (width < NARROW && spec.config) spec.config.legend = { ...spec.config.legend, columns: 2 };
    }
    delete spec.usermeta; // else it could turn on again what is off here
    const sheet = document.createElement("div");
    sheet.className = "chart";
    const problems = [];
    const { view } = await vegaEmbed(sheet, spec, {
      mode: "vega-lite", ast: true, expr: reporting(problems), renderer: "svg", tooltip: showTooltip,
      actions: false, defaultStyle: false,
    });
    if (problems.length) {
      view.finalize();
      throw problems[0];
    }
    sheet.setAttribute("role", "img");
    sheet.removeAttribute("aria-roledescription");
    sheet.setAttribute("aria-label", spec.description ?? this.caption());
    const svg = sheet.querySelector("svg");
    svg.style.maxWidth = "100%"; // what has a width of its own shrinks where there is less room
    svg.style.height = "auto";
    this.view?.finalize();
    this.canvas.replaceChildren(sheet);
    Object.assign(this, { view, width, fits, panels: Boolean(panels) });
    if (this.canvas.clientWidth !== width) await this.fit(); // resized meanwhile
  }

  async fit() {
    const width = this.canvas.clientWidth;
    if (!this.view || width === this.width || width === 0) return;
    if (this.panels && this.text) await this.draw(JSON.parse(this.text));
    if (!this.fits) return;
    this.width = width;
    await this.view.width(width).runAsync();
  }

  fail(problem) {
    console.warn(`${this.element.dataset.figure} cannot be drawn:`, problem);
    const link = document.createElement("a");
    link.href = this.address("svg");
    link.textContent = "Open it as a picture";
    const note = document.createElement("p");
    note.className = "chart-failed";
    note.append("This chart cannot be drawn here. ", link, ".");
    this.drop();
    this.canvas.replaceChildren(note);
    this.element.dataset.state = "failed";
  }

  caption() {
    return this.element.querySelector("figcaption")?.textContent.trim() ?? "";
  }

  drop() {
    this.view?.finalize();
    this.view = null;
    this.text = null;
  }
}

// As many panels stand abreast as have room, each with the names beside it.
function placePanels(spec, room, width) {
  const abreast = Math.floor(width / (room + LEAST_PANEL));
  spec.columns = Math.max(1, Math.min(spec.concat.length, abreast));
  const each = Math.floor((width - (spec.columns - 1) * spec.spacing) / spec.columns) - room;
  spec.concat.forEach((panel) => { panel.width = Math.max(each, LEAST_PANEL / 2); });
}

// Titles do not wrap by themselves: they are cut into lines, as wide as they turn out in this browser.
function fittedTitle(title, width) {
  const most = width - TITLE_MARGIN;
  const subtitle = lines(title.subtitle ?? "", most, SUBTITLE_FONT);
  return { ...title, frame: "bounds", text: lines(title.text, most, TITLE_FONT), subtitle };
}

function lines(text, most, font) {
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = font;
  return [text].flat().flatMap((line) => line.split(" ").reduce((done, word) => {
    const longer = `${done.at(-1)} ${word}`;
    if (done.length === 0 || ruler.measureText(longer).width > most) return [...done, word];
    return [...done.slice(0, -1), longer];
  }, []));
}

// Vega tells a logger what fails while it runs, and goes on. There is no option for a logger, but a view
// hands itself over with its first expression.
function reporting(problems) {
  const logger = {
    level: () => logger, info: () => logger, debug: () => logger,
    error: (problem) => { problems.push(problem); console.warn(problem); return logger; },
    warn: (...words) => { console.warn(...words); return logger; },
  };
  const heard = ([kind, evaluate]) => [kind, (context, expression) => {
    context.dataflow.logger(logger);
    return evaluate(context, expression);
  }];
  return Object.fromEntries(Object.entries(interpreter).map(heard));
}

const tip = document.createElement("div");
tip.className = "chart-tooltip";
tip.hidden = true;
Object.assign(tip.style, { position: "fixed", pointerEvents: "none", zIndex: "1000" });

let tipOwner = null; // a chart that is drawn again takes its own tooltip away, and no other's

function words(value) {
  return value !== null && typeof value === "object" ? JSON.stringify(value) : String(value);
}

// Whatever arms and metrics are called is text: nothing here reads it as markup.
function showTooltip(handler, event, _item, value) {
  if (!event || value === null || value === undefined || value === "") {
    if (handler === tipOwner) tip.hidden = true;
    return;
  }
  tipOwner = handler;
  if (typeof value === "object" && !(value instanceof Date) && !Array.isArray(value)) {
    const list = document.createElement("dl");
    for (const [key, entry] of Object.entries(value)) {
      const [term, description] = [document.createElement("dt"), document.createElement("dd")];
      term.textContent = key;
      description.textContent = words(entry);
      list.append(term, description);
    }
    tip.replaceChildren(list);
  } else {
    tip.textContent = words(value);
  }
  tip.hidden = false;
  if (!tip.isConnected) document.body.append(tip);
  const place = (at, size, room) => Math.max(0, at + 14 + size > room ? at - 10 - size : at + 14);
  tip.style.left = `${place(event.clientX, tip.offsetWidth, innerWidth)}px`;
  tip.style.top = `${place(event.clientY, tip.offsetHeight, innerHeight)}px`;
}

const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    const figure = figures.get(target);
    if (!figure) continue;
    figure.near = isIntersecting;
    if (isIntersecting && figure.wanted) figure.refresh();
  }
}, { rootMargin: `${AHEAD} 0px` });

let settling = 0;
const size = new ResizeObserver(() => {
  clearTimeout(settling);
  settling = setTimeout(() => figures.forEach((figure) => figure.fit()), SETTLED_MS);
});

// Figures may come and go with parts of the page.
function collect() {
  for (const [element, figure] of figures) {
    if (element.isConnected) continue;
    sight.unobserve(element);
    size.unobserve(figure.canvas);
    figure.drop();
    figures.delete(element);
  }
  for (const element of document.querySelectorAll("figure[data-figure]")) {
    if (figures.has(element) || !element.querySelector(".canvas")) continue;
    const figure = new Figure(element);
    figures.set(element, figure);
    sight.observe(element);
    size.observe(figure.canvas);
  }
}

// On paper nobody scrolls: when the page has settled, charts below the screen are drawn too, one by one.
const REST_AFTER_MS = 1500;
const idle = globalThis.requestIdleCallback ?? ((act) => setTimeout(act, 0));
async function drawTheRest() {
  for (const figure of figures.values()) {
    if (figure.view || figure.element.dataset.state === "failed") continue;
    await new Promise((done) => idle(done));
    const was = figure.near;
    figure.near = true;
    await figure.refresh();
    figure.near = was;
  }
}
addEventListener("load", () => setTimeout(drawTheRest, REST_AFTER_MS));

function refresh() {
  collect();
  figures.forEach((figure) => figure.refresh());
}

document.addEventListener("ringfence:change", refresh);
document.addEventListener("visibilitychange", () => {
  figures.forEach((figure) => figure.wanted && figure.refresh());
});
darkness.addEventListener("change", refresh);
new MutationObserver(refresh).observe(document.documentElement, { attributeFilter: ["data-theme"] });
collect();
