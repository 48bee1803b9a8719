// Updates a page live. Without this script, the page does not change after it was loaded.
"use strict";

(() => {
  const place = document.querySelector("[data-live]");
  const line = document.getElementById("live-line");
  const said = document.getElementById("said");
  if (!place || !window.EventSource) return;

  const show = (text, lost) => {
    line.hidden = false;
    line.classList.toggle("lost", lost);
    line.querySelector("[data-says]").textContent = text;
  };

  // The server escapes everything that it sends; a template's content is inert until it is inserted into the page.
  const read = (html) => {
    const template = document.createElement("template");
    template.innerHTML = html.trim();
    return template.content.firstElementChild;
  };

  // Restore the keyboard focus on the same link.
  const replace = (old, fresh) => {
    const stops = (within) => [...within.querySelectorAll("a, button, summary, [tabindex]")];
    const at = stops(old).indexOf(document.activeElement);
    old.replaceWith(fresh);
    if (at >= 0) (stops(fresh)[at] || fresh).focus({ preventScroll: true });
  };

  const row = (event) => {
    const fresh = read(event.data);
    const old = document.getElementById(fresh.id);
    if (old) {
      const fold = fresh.querySelector("details");
      if (fold && old.querySelector("details[open]")) fold.open = true;
      replace(old, fresh);
    } else if (place.dataset.inserts !== undefined) {
      place.querySelector("tbody").prepend(fresh);
      fresh.classList.add("fresh");
      document.querySelector(".empty")?.remove();
    } else {
      return;
    }
    said.textContent = fresh.dataset.say;
  };

  const run = (event) => {
    const fresh = read(event.data);
    if (!fresh) return;
    replace(place.firstElementChild, fresh);
    said.textContent = fresh.dataset.say;
  };

  const source = new EventSource(place.dataset.live);
  source.addEventListener("open", () => show("Updates live", false));
  source.addEventListener("error", () => {
    const over = source.readyState === EventSource.CLOSED;
    show(over ? "Updates ended: reload the page" : "Connection lost; reconnecting", true);
  });
  source.addEventListener("row", row);
  source.addEventListener("run", run);
  source.addEventListener("over", () => {
    source.close();
    location.reload();
  });
})();
