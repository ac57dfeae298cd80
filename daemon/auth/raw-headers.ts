/** The first value of a header in the raw list of Node, undefined when absent. `name` in lower case. */
export function firstHeader(rawHeaders: readonly string[], name: string): string | undefined {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (isNamed(rawHeaders[i] as string, name)) return rawHeaders[i + 1] as string;
  }
  return undefined;
}

/** Every value of a header in the raw list of Node, in order. `name` in lower case. */
export function allHeaders(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = [];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (isNamed(rawHeaders[i] as string, name)) values.push(rawHeaders[i + 1] as string);
  }
  return values;
}

/** Header names are compared without case; the length decides first, so most names cost one comparison. */
export function isNamed(header: string, name: string): boolean {
  return header.length === name.length && (header === name || header.toLowerCase() === name);
}

/**
 * Decodes a header value that was sent as UTF-8. Node delivers header bytes as Latin-1; without this a
 * header, a query and a file could spell the same key differently. Returns any other text unchanged.
 */
export function decodeUtf8(text: string): string {
  if (!/[^\0-\x7f]/.test(text) || /[^\0-\xff]/.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  const decoded = bytes.toString('utf8');
  return decoded.includes('\ufffd') ? text : decoded;
}
