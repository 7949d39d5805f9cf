// Keeps a page up to date without a reload, lets thresholds be moved, and remembers the theme.
// Everything that is shown was rendered, and so escaped, by the server.

const root = document.documentElement;
const say = (text) => {
  const link = document.getElementById("link");
  if (link) link.textContent = text;
};

// Theme: the system's, until the reader chooses.
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
const theme = document.getElementById("theme");
const nameTheme = () => { theme.textContent = isDark() ? "Light theme" : "Dark theme"; };
theme.hidden = false;
nameTheme();
dark.addEventListener("change", nameTheme);
theme.addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  localStorage.setItem("ringfence-theme", root.dataset.theme);
  nameTheme();
});

// Parts marked data-live are brought to what a newer copy of the same page has. Elements that are there
// stay: so does the focus, what the reader opened, and a region that a screen reader listens to.
function bring(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType === Node.TEXT_NODE) { old.data = fresh.data; return; }
  for (const { name, value } of [...fresh.attributes]) old.setAttribute(name, value);
  for (const { name } of [...old.attributes]) {
    if (name !== "open" && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
  [...fresh.childNodes].forEach((child, place) => {
    const known = child.id && [...old.children].find((one) => one.id === child.id);
    const there = known || old.childNodes[place];
    if (!there || there.nodeName !== child.nodeName || (there.id ?? "") !== (child.id ?? "")) {
      old.insertBefore(child, old.childNodes[place] ?? null);
    } else {
      if (there !== old.childNodes[place]) old.insertBefore(there, old.childNodes[place]);
      bring(there, child);
    }
  });
  while (old.childNodes.length > fresh.childNodes.length) old.lastChild.remove();
}

async function fetchPage(url) {
  const answer = await fetch(url, { headers: { Accept: "text/html" } });
  if (!answer.ok) throw new Error(`${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

// The version that this page shows, and the latest that was heard of.
let shown = document.getElementById("version")?.dataset.version;
let wanted = null;

let refreshing = false;
let again = false;
async function refresh() {
  if (refreshing) { again = true; return; }
  refreshing = true;
  try {
    const fresh = await fetchPage(location.href);
    const parts = [...document.querySelectorAll("[data-live]")];
    if (parts.length === fresh.querySelectorAll("[data-live]").length) {
      for (const part of parts) bring(part, fresh.getElementById(part.id) ?? part);
    } else {  // a first verdict, or work that is done, brings parts that are not here
      document.title = fresh.title;
      document.querySelector("main").replaceChildren(...fresh.querySelector("main").childNodes);
      prepare();
    }
    shown = fresh.getElementById("version")?.dataset.version;
    if (wanted && shown !== wanted) setTimeout(refresh, 1000);  // the server had an older look
    document.dispatchEvent(new CustomEvent("ringfence:change"));
  } catch {
    say("· the server does not answer; this is the last state seen");
  } finally {
    refreshing = false;
    if (again) { again = false; setTimeout(refresh, 300); }
  }
}

const followed = document.querySelector("[data-events]");
if (followed) {
  const events = new EventSource(followed.dataset.events);
  events.addEventListener("change", (event) => {
    const now = JSON.parse(event.data);
    say(now.finished ? "· finished" : "· live");
    wanted = now.version;
    if (wanted !== shown) refresh();
  });
  events.addEventListener("error", () => say("· the server does not answer; this is the last state seen"));
}
const polled = document.querySelector("[data-poll]");
if (polled) {
  let last = 0;  // work that nobody looks at is stopped: a page that is not seen looks now and then
  const timer = setInterval(() => {
    if (!document.querySelector("[data-poll]")) clearInterval(timer);
    else if (!document.hidden || Date.now() - last > 20000) { last = Date.now(); refresh(); }
  }, Number(polled.dataset.poll));
}

// What if: a slider and a number that say the same; the answer comes from the server.
function prepare() {
  for (const form of document.querySelectorAll("[data-what-if]")) prepareWhatIf(form);
}

function showMap(query) {
  const map = document.getElementById("map-figure");
  map.dataset.figure = map.dataset.figure.split("?")[0] + (query ? `?${query}` : "");
  map.classList.toggle("exploratory", Boolean(query));
  document.dispatchEvent(new CustomEvent("ringfence:change"));
}

function prepareWhatIf(form) {
  const slider = form.querySelector("input[type=range]");
  const number = form.querySelector("input[type=number]");
  const answer = document.getElementById("what-if-answer");
  let timer = 0;
  let asked = 0;
  const show = async () => {
    const mine = ++asked;
    const query = new URLSearchParams(new FormData(form)).toString();
    try {
      const fresh = await fetchPage(`${form.action}?${query}`);
      if (mine !== asked) return;
      answer.replaceChildren(...fresh.getElementById("what-if-answer").childNodes);
      showMap(query);
    } catch {
      answer.textContent = "No answer: the threshold must be a number, and the server must run.";
    }
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(show, 60); };
  const speak = () => slider.setAttribute("aria-valuetext", Number(number.value).toPrecision(5));
  slider.addEventListener("input", () => {
    number.value = String(Number(Number(slider.value).toPrecision(5)));
    speak();
    soon();
  });
  number.addEventListener("input", () => { slider.value = number.value; speak(); soon(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
  form.addEventListener("reset", () => {
    clearTimeout(timer);
    asked += 1;
    answer.replaceChildren();
    showMap("");
  });
  form.addEventListener("click", (event) => {
    const at = event.target.dataset?.threshold;
    if (at === undefined) return;
    number.value = at;
    slider.value = at;
    speak();
    show();
  });
}

prepare();
