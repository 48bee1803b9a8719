// Shows times in the viewer's time zone, or how long ago they were, with the exact time as the tooltip. Without this
// script, times are in UTC and say so.
"use strict";

(() => {
  const parts = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" };
  // Swedish dates are written as ISO 8601 has them, which everybody reads in the same way.
  const format = new Intl.DateTimeFormat("sv-SE", parts);
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  const zone = format.resolvedOptions().timeZone;
  const units = [["day", 86400], ["hour", 3600], ["minute", 60]];

  const since = (at) => {
    const seconds = (at - Date.now()) / 1000;
    const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) || ["second", 1];
    if (unit === "day" && seconds < -30 * size) return format.format(at).slice(0, 10);
    return unit === "second" ? "just now" : relative.format(Math.round(seconds / size), unit);
  };

  const localise = (within) => {
    for (const time of within.querySelectorAll("time[datetime]:not([title])")) {
      const at = new Date(time.dateTime);
      time.title = `${"ago" in time.dataset ? `${format.format(at)}, ` : ""}${time.textContent}; shown in ${zone}`;
      time.textContent = "ago" in time.dataset ? since(at) : format.format(at);
    }
  };

  localise(document);
  setInterval(() => {
    for (const time of document.querySelectorAll("time[data-ago]")) time.textContent = since(new Date(time.dateTime));
  }, 60_000);
  // Rows and steps that arrive while the page is open.
  new MutationObserver(() => localise(document)).observe(document.body, { childList: true, subtree: true });
})();
