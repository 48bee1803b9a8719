import path from "node:path";
export * from "./shapes.js";
const events = require("events");
const lazy = () => import("./lazy.js");

export default class Queue extends events.EventEmitter {
  #items = [];
  static empty = function () {
    return new Queue();
  };
  onError = (error, { retry = false }) => {
    throw new Error("the queue is broken");
  };

  constructor(size = 10, ...rest) {
    super();
  }

  get length() {
    return this.#items.length;
  }

  async *drain(limit) {
    yield* this.#items;
  }
}

const api = {
  get: async (url) => url,
  post(url, body) {
    return body;
  },
  nested: {
    remove: function (id) {},
  },
};

Queue.prototype.push = function push(item) {
  const inner = (x) => x;
  return inner(item);
};

Queue.prototype = {
  peek() {},
};

exports.open = function (name) {};
module.exports = { close() {} };
module.exports.reset = () => {};
app.routes.index = (req, res) => res.send(`hello ${req.name} again`);

function* ids(from) {
  yield from;
}

var later = function () {};
handler = (event) => event;
const Item = class {};
