import { isPdf } from './placeholders.ts';

const BASE64_URL = /^data:[^,]{0,256};base64,/i;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
/** MIME breaks base64 into lines of 76 characters. */
const LINE_BREAK = /[\r\n]/g;
const NUL = '\0';

/**
 * Returns the text of a file that is sent in base64, with or without the beginning of a data URL. Returns null for a
 * file that is not UTF-8 text, and for a PDF by its bytes or by `hints`: its media type or name.
 */
export function textOfFile(data: unknown, ...hints: readonly unknown[]): string | null {
  if (typeof data !== 'string' || isPdf(data, ...hints)) return null;
  const encoded = data.slice(BASE64_URL.exec(data)?.[0].length ?? 0).replaceAll(LINE_BREAK, '');
  if (encoded === '' || !BASE64.test(encoded)) return null;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'));
    return text.includes(NUL) || text.startsWith('%PDF-') ? null : text;
  } catch {
    return null;
  }
}

/** Returns the text below the name of its file, if it has one. */
export const titled = (name: unknown, text: string): string =>
  typeof name === 'string' && name !== '' ? `${name}\n${text}` : text;
