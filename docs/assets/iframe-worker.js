// Browsers start no Worker for a page that was opened from disk. There, run the search's script in a hidden frame that
// speaks the worker's protocol instead. Pages of a server keep the browser's Worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((resolve) => {
        frame.onload = () => resolve(frame.contentWindow);
      });
      // The handlers of the page's side; the frame's script posts to `parent` by calling `postMessage`.
      window.addEventListener("message", (event) => {
        if (event.source !== frame.contentWindow) return;
        const copy = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(copy);
        if (this.onmessage) this.onmessage(copy);
      });
      const address = JSON.stringify(new URL(script, location.href).href).replace(/</g, "\\u003c");
      frame.srcdoc = `<script>
        self.postMessage = (data) => parent.postMessage(data, "*");
        self.importScripts = (...files) => files.reduce((before, file) => before.then(() => new Promise((done, fail) => {
          const tag = document.createElement("script");
          Object.assign(tag, { src: new URL(file, ${address}).href, onload: done, onerror: fail });
          document.head.append(tag);
        })), Promise.resolve());
      </` + `script><script src=${address}></` + `script>`;
      document.addEventListener("DOMContentLoaded", () => document.body.append(frame));
      if (document.body) document.body.append(frame);
    }
    postMessage(data) {
      this.ready.then((target) => target.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
