/** Addresses of style sheets that were asked for after the start of the page and did not come. */
const missing = new Set<string>();

const isSheet = (target: EventTarget | null): target is HTMLLinkElement =>
  target instanceof HTMLLinkElement && target.rel === 'stylesheet';

/** Vite asks for each sheet once and takes it for loaded ever after, so what failed has to be noted here. */
addEventListener(
  'error',
  ({ target }) => {
    // A sheet of the first page is brought back by `boot.ts`, which counts its tries there.
    if (!isSheet(target) || target.dataset.tries !== undefined) return;
    missing.add(target.href);
    target.remove();
  },
  true,
);

function ask(href: string): Promise<void> {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.crossOrigin = '';
  return new Promise((resolve, reject) => {
    link.addEventListener('load', () => {
      missing.delete(href);
      resolve();
    });
    link.addEventListener('error', () => reject(new Error(`Unable to preload CSS for ${href}`)));
    link.href = href;
    document.head.append(link);
  });
}

/** Asks once more for every style sheet that did not come. Throws, in Vite's words, when one still does not. */
export async function bringSheets(): Promise<void> {
  const asked = await Promise.allSettled([...missing].map(ask));
  const failed = asked.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
