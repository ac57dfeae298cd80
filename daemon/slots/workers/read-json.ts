import type { Readable } from 'node:stream';
import { Refusal } from './refusal.ts';

/** Maximum size of a request body. A prompt that fills the largest windows is far smaller. */
const MAX_BODY_BYTES = 64 << 20;

/** Reads a JSON body. Throws 413 beyond `maxBytes` and 400 for anything that is not JSON. */
export async function readJson(body: Readable, maxBytes = MAX_BODY_BYTES): Promise<unknown> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of body) {
    length += (part as Buffer).length;
    if (length > maxBytes) throw new Refusal('request.too_large', 'The body is too large.', { status: 413 });
    parts.push(part as Buffer);
  }
  try {
    return JSON.parse(Buffer.concat(parts, length).toString('utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Refusal('request.invalid_json', 'The body is not valid JSON.');
  }
}
