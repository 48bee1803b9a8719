// Updates a page while it is open. Without this script, the page does not change after it was loaded.
"use strict";

(() => {
  const PACE = 2000;
  const place = document.querySelector("[data-live]");
  if (!place) return;
  const line = document.getElementById("live-line");
  let seen = place.dataset.seen;

  const show = (text, lost) => {
    line.hidden = false;
    line.classList.toggle("lost", lost);
    line.querySelector("[data-says]").textContent = text;
  };

  const stops = (within) => [...within.querySelectorAll("a, button, summary, [tabindex]")];

  // Retain the keyboard focus and the open folds, by the id of what they are in.
  const replace = (old, fresh) => {
    const active = document.activeElement;
    const around = old.contains(active) ? active.closest("[id]") : null;
    const within = around && old.contains(around) ? around : old;
    const at = old.contains(active) ? stops(within).indexOf(active) : -1;
    const open = [...old.querySelectorAll("[id]:has(details[open])")].map((one) => one.id);
    old.replaceWith(fresh);
    for (const id of open) document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
    const now = within === old ? fresh : document.getElementById(within.id);
    if (at >= 0 && now) stops(now)[at]?.focus({ preventScroll: true });
  };

  const ask = async () => {
    try {
      const answer = await fetch(`${place.dataset.live}${place.dataset.live.includes("?") ? "&" : "?"}seen=${seen}`);
      if (answer.status === 205) return location.reload();
      if (answer.status >= 400 && answer.status < 500) return show("Updates ended: reload the page", true);
      if (!answer.ok) throw new Error(answer.statusText);
      if (answer.status === 200) {
        // The server escapes everything that it sends; a template's content is inert until it is inserted.
        const template = document.createElement("template");
        template.innerHTML = (await answer.text()).trim();
        const fresh = template.content.firstElementChild;
        seen = answer.headers.get("X-Seen");
        replace(place.firstElementChild, fresh);
        if (fresh.querySelector("tbody tr")) document.querySelector(".empty")?.remove();
        document.getElementById("said").textContent = fresh.dataset.say || "";
      }
      show("Updates live", false);
    } catch {
      show("Connection lost; reconnecting", true);
    }
    setTimeout(ask, PACE);
  };

  ask();
})();
