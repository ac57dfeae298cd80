/** URLs of style sheets that failed to load after the start of the page. */
const missing = new Set<string>();

const isSheet = (target: EventTarget | null): target is HTMLLinkElement =>
  target instanceof HTMLLinkElement && target.rel === 'stylesheet';

/** Records failed style sheets, because Vite requests each one only once. */
addEventListener(
  'error',
  ({ target }) => {
    // `boot.ts` retries the style sheets of the first page.
    if (!isSheet(target) || target.dataset.tries !== undefined) return;
    missing.add(target.href);
    target.remove();
  },
  true,
);

function loadStyleSheet(href: string): Promise<void> {
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

/** Retries all failed style sheets. Throws Vite's error when one fails again. */
export async function retryStyleSheets(): Promise<void> {
  const results = await Promise.allSettled([...missing].map(loadStyleSheet));
  const failed = results.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
