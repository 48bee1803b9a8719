import type { Shape } from "./shape";
import legacy = require("legacy");

export interface Options {
  retries: number;
}

export type Handler<T> = (value: T) => void;

export const enum Mode {
  Fast,
  Slow,
}

declare module "events" {
  function once(name: string, wait?: number): Promise<void>;
}

export namespace Geometry.Plane {
  export function area(shape: Shape): number {
    return shape.area();
  }
}

@Injectable()
export abstract class Store<T> {
  private listeners = (name: string, ...rest: T[]): void => {};
  reset = function (this: Store<string>) {};

  constructor(private readonly name: string, protected size?: number) {}

  abstract save(value: T): Promise<void>;

  static create<U>(name: string): Store<U> {
    throw new Error("a store needs a name");
  }

  private set limit(value: number) {
    this.size = value;
  }
}

export const open = async <T>(name: string): Promise<T> => {
  return legacy(name);
};

export async function* pages(from: number) {
  yield from;
}

function over(a: string): void;
function over(a: unknown): void {}
