import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../../../daemon/contract/errors.ts';
import { ByteScanner, stringAt } from '../../../daemon/lib/json/byte-scanner.ts';
import { assertProperty, assertSame, orNullIf } from '../assert.ts';

/** The members of an object, or the one value as a member without a name. */
function scan(bytes: Buffer): [string, unknown][] {
  const scanner = new ByteScanner(bytes);
  const found: [string, unknown][] = [];
  const take = (name: string) => {
    const start = scanner.at;
    const kind = scanner.value();
    const value: unknown = JSON.parse(bytes.toString('utf8', start, scanner.at));
    const like = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
    assertSame(like === 'boolean' ? String(value) : like, kind, 'the kind of a value');
    found.push([name, value]);
  };
  if (scanner.kind() === 'object')
    scanner.object({ member: (_before, start, end) => take(stringAt(bytes, { start, end })) });
  else take('');
  scanner.end();
  return found;
}

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Object.values(value).reduce((most: number, each) => Math.max(most, depthOf(each)), 0);
}

const parsed = (bytes: Buffer) =>
  orNullIf(
    () => ({ value: JSON.parse(bytes.toString()) as unknown }),
    (error) => error instanceof SyntaxError,
  );

/** A body is accepted exactly when JSON.parse accepts it, and has the same members. */
export function fuzz(data: Buffer): void {
  // A copy at an odd offset: words are read across it.
  const bytes = Buffer.concat([Buffer.alloc(data.length % 4), data]).subarray(data.length % 4);
  const refused = (error: unknown) => error instanceof GatewayError && error.code === 'request.invalid_json';
  const ours = orNullIf(() => scan(bytes), refused);
  const theirs = isUtf8(bytes) ? parsed(bytes) : null;
  if (ours === null) {
    assertProperty(theirs === null || depthOf(theirs.value) > 60, 'a body that is refused');
    return;
  }
  assertProperty(theirs !== null, 'a body that JSON.parse refuses');
  const { value } = theirs;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  assertSame(isObject ? Object.fromEntries(ours) : ours[0]?.[1], value, 'the members of a body');
}
