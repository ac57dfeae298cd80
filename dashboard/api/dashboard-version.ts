/** Timeout for the page that the gateway serves. */
const LIMIT_MS = 5000;

/** `same`: the gateway serves this dashboard; `newer`: it serves another one; `silent`: no response. */
export type ServedVersion = 'same' | 'newer' | 'silent';

/** The entry script of a page, which identifies the build; null when the page is not a dashboard. */
export function entryOf(html: string): string | null {
  for (const [tag] of html.matchAll(/<script\b[^>]*>/g)) {
    if (!/\stype="module"/.test(tag)) continue;
    const address = /\ssrc="([^"]+)"/.exec(tag)?.[1];
    if (address !== undefined) return address;
  }
  return null;
}

/** Compares the entry script of this page with the served one. */
export function compareEntries(own: string | null, html: string | null): ServedVersion {
  const served = html === null ? null : entryOf(html);
  if (served === null) return 'silent';
  return own === null || own === served ? 'same' : 'newer';
}

/** Checks which dashboard the gateway serves: after an update, the parts of an older page are gone. Never rejects. */
export async function fetchServedVersion(): Promise<ServedVersion> {
  const own = document.querySelector('script[type="module"][src]')?.getAttribute('src') ?? null;
  try {
    const answer = await fetch('/', { cache: 'no-store', signal: AbortSignal.timeout(LIMIT_MS) });
    return compareEntries(own, answer.ok ? await answer.text() : null);
  } catch {
    return 'silent';
  }
}
