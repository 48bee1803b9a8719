// Shows times in the viewer's time zone, with UTC as the tooltip. Without this script, times are in UTC and say so.
"use strict";

(() => {
  const parts = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit" };
  // Swedish dates are written as ISO 8601 has them, which everybody reads in the same way.
  const format = new Intl.DateTimeFormat("sv-SE", parts);
  const zone = format.resolvedOptions().timeZone;

  const localise = (within) => {
    for (const time of within.querySelectorAll("time[datetime]:not([title])")) {
      time.title = `${time.textContent}; shown in ${zone}`;
      time.textContent = format.format(new Date(time.dateTime));
    }
  };

  localise(document);
  // Rows and steps that arrive while the page is open.
  new MutationObserver(() => localise(document)).observe(document.body, { childList: true, subtree: true });
})();
