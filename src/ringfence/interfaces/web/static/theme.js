// Runs before the page is drawn, so that a chosen theme does not flicker.
const chosen = localStorage.getItem("ringfence-theme");
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
