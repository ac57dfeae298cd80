type Json = Record<string, unknown>;

/** Attempts to shorten one text after the other. */
const MAX_CUTS = 16;
/** Characters of a shortened text that are always kept. */
const MIN_TEXT = 64;

/**
 * Returns a tool result as JSON of at most `most` characters. A list is cut at whole items, and `omitted` says
 * how many are missing. A text that is too long on its own ends with the number of missing characters. The
 * result is always valid JSON. Pure.
 */
export function fitResult(result: unknown, most: number): string {
  const text = JSON.stringify(result);
  if (text.length <= most) return text;
  const list = longestList(result);
  if (list === null) return withShortTexts(result, most);
  const { object, key, items } = list;
  const take = (count: number): Json => ({
    ...object,
    [key]: items.slice(0, count),
    ...(count < items.length && { omitted: items.length - count }),
  });
  let count = items.length - 1;
  while (count > 0 && JSON.stringify(take(count)).length > most) count--;
  // The first item is worth more than none, even if its texts are shortened.
  return count > 0 ? JSON.stringify(take(count)) : withShortTexts(take(1), most);
}

/** Returns the list in an object that takes most of its space; null when it has none. */
function longestList(result: unknown): { object: Json; key: string; items: readonly unknown[] } | null {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return null;
  const lists = Object.entries(result)
    .flatMap(([key, items]) =>
      Array.isArray(items) && items.length > 1
        ? [{ object: result as Json, key, items, length: JSON.stringify(items).length }]
        : [],
    )
    .sort((a, b) => b.length - a.length);
  return lists[0] ?? null;
}

/** Shortens the longest texts until the result fits. */
function withShortTexts(result: unknown, most: number): string {
  let current = result;
  for (let cuts = 0; cuts < MAX_CUTS; cuts++) {
    const text = JSON.stringify(current);
    if (text.length <= most) return text;
    const longest = longestText(current);
    if (longest.length <= MIN_TEXT) break;
    const share = Math.min(0.5, (text.length - most) / longest.length);
    current = replaceText(current, longest, shortened(longest, Math.ceil(longest.length * share) + MIN_TEXT));
  }
  const last = JSON.stringify(current);
  return last.length <= most ? last : JSON.stringify({ error: { message: 'The result is too long.' } });
}

const NOTE = / … \((\d+) characters left out\)$/;

/** Returns a text without its last `drop` characters, and the number of all that are missing. */
function shortened(text: string, drop: number): string {
  const before = NOTE.exec(text);
  const body = before === null ? text : text.slice(0, before.index);
  const end = Math.max(0, body.length - drop);
  // Never inside a surrogate pair.
  const cut = body.slice(0, /[\ud800-\udbff]$/.test(body.slice(0, end)) ? end - 1 : end);
  const missing = body.length - cut.length + Number(before?.[1] ?? 0);
  return `${cut} … (${missing} characters left out)`;
}

function longestText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).reduce<string>((longest, each) => {
    const text = longestText(each);
    return text.length > longest.length ? text : longest;
  }, '');
}

function replaceText(value: unknown, from: string, to: string): unknown {
  if (value === from) return to;
  if (Array.isArray(value)) return value.map((each) => replaceText(each, from, to));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaceText(each, from, to)]));
}
