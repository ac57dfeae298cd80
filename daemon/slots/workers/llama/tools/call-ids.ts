import { randomBytes, randomUUID } from 'node:crypto';

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Returns a new call id. `nine`: nine letters or digits, the only form that Mistral's templates accept. */
export function callId(nine: boolean): string {
  if (!nine) return `call_${randomUUID().replaceAll('-', '')}`;
  return [...randomBytes(9)].map((byte) => LETTERS[byte % LETTERS.length]).join('');
}
