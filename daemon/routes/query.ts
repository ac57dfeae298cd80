import type { GatewayError } from '../contract/errors.ts';
import { invalidRequest } from '../contract/invalid-request.ts';
import type { RouteContext } from './handler.ts';

/** 422 `request.invalid` for one parameter; the value itself is never repeated. */
export function badQuery(path: string, reason: string): GatewayError {
  return invalidRequest([{ path, reason }]);
}

/** Reads query parameters. Each method throws 422 `request.invalid` for an invalid value. */
export class Query {
  readonly #values: URLSearchParams;

  constructor({ querystring }: Pick<RouteContext, 'querystring'>) {
    this.#values = new URLSearchParams(querystring);
  }

  /** A text of at most 1,024 characters; null when absent or empty. */
  text(name: string): string | null {
    const value = this.#values.get(name);
    if (value === null || value === '') return null;
    if (value.length > 1024) throw badQuery(name, 'is longer than 1024 characters');
    return value;
  }

  /** A whole number within [min, max]. */
  whole(name: string, { min, max, absent: fallback }: { min: number; max: number; absent: number }): number {
    const value = this.#values.get(name);
    if (value === null) return fallback;
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw badQuery(name, `must be a whole number from ${min} to ${max}`);
  }

  /** One of a few words; null when absent. */
  word<const W extends string>(name: string, words: readonly W[]): W | null {
    const value = this.#values.get(name);
    if (value === null) return null;
    const found = words.find((word) => word === value);
    if (found === undefined) throw badQuery(name, `must be one of ${words.join(', ')}`);
    return found;
  }

  /** `true`, `1`, `false` or `0`. */
  flag(name: string, fallback: boolean): boolean {
    const word = this.word(name, ['true', '1', 'false', '0']);
    return word === null ? fallback : word === 'true' || word === '1';
  }
}
