import { randomBytes, randomUUID } from 'node:crypto';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** A fresh id for a call. `nine`: nine letters or digits, all that the templates of Mistral take back. */
export function callId(nine: boolean): string {
  if (!nine) return `call_${randomUUID().replaceAll('-', '')}`;
  return [...randomBytes(9)].map((byte) => LETTERS[byte % LETTERS.length]).join('');
}
