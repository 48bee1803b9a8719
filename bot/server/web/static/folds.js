// Opens the fold that a link of this page leads to. Without this script, the link leads to its closed heading.
"use strict";

(() => {
  const open = () => {
    const fold = document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("details");
    if (fold) fold.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();
