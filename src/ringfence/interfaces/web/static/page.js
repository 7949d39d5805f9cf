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

// Parts marked data-live are replaced by those of a newer copy of the same page, if they differ.
// What the reader opened stays open, and what has the focus keeps it.
function replaceWith(old, fresh) {
  if (old.innerHTML === fresh.innerHTML) return;
  const open = [...old.querySelectorAll("details[open]")].map((one) => one.id);
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const place = focused && [...old.querySelectorAll(focused.tagName)].indexOf(focused);
  old.replaceChildren(...fresh.childNodes);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focused) old.querySelectorAll(focused.tagName)[place]?.focus({ preventScroll: true });
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
      for (const part of parts) replaceWith(part, fresh.getElementById(part.id) ?? part);
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
  const timer = setInterval(() => {
    if (!document.querySelector("[data-poll]")) clearInterval(timer);
    else if (!document.hidden) refresh();
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
      replaceWith(answer, fresh.getElementById("what-if-answer"));
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
