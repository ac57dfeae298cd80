/** Longest wait for the page that the gateway serves. */
const LIMIT_MS = 5000;

/** `same`: the dashboard that this page is; `newer`: another one; `silent`: no dashboard answers at all. */
export type Served = 'same' | 'newer' | 'silent';

/** Address of the script that a page begins with, by which builds differ; null for a page that is no dashboard. */
export function entryOf(html: string): string | null {
  for (const [tag] of html.matchAll(/<script\b[^>]*>/g)) {
    if (!/\stype="module"/.test(tag)) continue;
    const address = /\ssrc="([^"]+)"/.exec(tag)?.[1];
    if (address !== undefined) return address;
  }
  return null;
}

/** Compares the entry of this page with the one that is served now. */
export function compareEntries(own: string | null, html: string | null): Served {
  const theirs = html === null ? null : entryOf(html);
  if (theirs === null) return 'silent';
  return own === null || own === theirs ? 'same' : 'newer';
}

/** Asks the gateway which dashboard it serves: after an update the parts of an older page are gone. Never rejects. */
export async function askServed(): Promise<Served> {
  const own = document.querySelector('script[type="module"][src]')?.getAttribute('src') ?? null;
  try {
    const answer = await fetch('/', { cache: 'no-store', signal: AbortSignal.timeout(LIMIT_MS) });
    return compareEntries(own, answer.ok ? await answer.text() : null);
  } catch {
    return 'silent';
  }
}
