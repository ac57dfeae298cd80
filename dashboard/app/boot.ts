/**
 * What runs before everything else, as a classic script that stands alone on purpose: it sets the chosen theme before
 * the first paint, and brings back a first page of which a part did not come, because browsers end requests when a
 * network changes. The page's own code cannot do that: it is what did not come.
 */
{
  /** Waits before each try, in milliseconds; after the last one the page says what is wrong. */
  const WAITS_MS = [500, 2000, 5000];
  const LIMIT_MS = 5000;
  const KEPT = 'svc.first-page';
  /** Reloads further apart than this have nothing to do with each other. */
  const FORGET_MS = 60_000;
  let leaving = false;

  try {
    const chosen = localStorage.getItem('svc.theme');
    if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
  } catch {
    // Storage is switched off in this browser: the theme of the system applies.
  }

  const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

  const answers = (): Promise<boolean> =>
    fetch('/api/health', { cache: 'no-store', signal: AbortSignal.timeout(LIMIT_MS) }).then(
      ({ ok }) => ok,
      () => false,
    );

  /** How often this page was loaded again just now; null where nothing can be kept, which would have no end. */
  const reloads = (): number | null => {
    try {
      const [count = 0, at = 0] = JSON.parse(sessionStorage.getItem(KEPT) ?? '[]') as number[];
      sessionStorage.setItem(KEPT, JSON.stringify([count, at])); // throws where nothing can be kept
      return Date.now() - at > FORGET_MS ? 0 : count;
    } catch {
      return null;
    }
  };

  const keep = (count: number): void => {
    try {
      sessionStorage.setItem(KEPT, JSON.stringify([count, Date.now()]));
    } catch {
      // Nothing is kept: the next failure says so at once.
    }
  };

  /** Says what is wrong above the page, without a style sheet that may be what is missing. */
  const tell = (title: string, text: string): void => {
    document.getElementById('first-page')?.remove();
    const place = document.createElement(document.querySelector('main') === null ? 'main' : 'div');
    place.id = 'first-page';
    const box = document.createElement('div');
    box.setAttribute('role', 'alert');
    Object.assign(box.style, { maxWidth: '560px', margin: '0 auto', padding: '10vh 16px 16px' });
    const [heading, words, button] = (['h1', 'p', 'button'] as const).map((tag) =>
      document.createElement(tag),
    ) as [HTMLHeadingElement, HTMLParagraphElement, HTMLButtonElement];
    heading.textContent = title;
    words.textContent = text;
    Object.assign(words.style, { margin: '16px 0' });
    button.textContent = 'Try again';
    Object.assign(button.style, {
      padding: '8px 16px',
      border: '0',
      borderRadius: '6px',
      background: 'var(--accent, #4f4bd8)',
      color: 'var(--on-accent, #fff)',
    });
    button.addEventListener('click', () => {
      keep(0);
      location.reload();
    });
    box.append(heading, words, button);
    place.append(box);
    document.body.prepend(place);
    document.querySelector('.still-loading')?.remove();
  };

  /** Loads the whole page again, once the gateway answers; a few times, then only by hand. */
  const startOver = async (): Promise<void> => {
    if (leaving) return;
    leaving = true;
    const count = reloads();
    const wait = count === null ? undefined : WAITS_MS[count];
    if (count === null || wait === undefined) {
      tell(
        'The dashboard did not load',
        'A part of this page did not come from the gateway. Networks that change and proxies in between do that; the gateway itself is not touched by it.',
      );
      return;
    }
    keep(count + 1);
    await pause(wait);
    while (!(await answers())) {
      tell('The gateway does not answer', 'The page comes by itself once it does.');
      await pause(LIMIT_MS);
    }
    location.reload();
  };

  /** A style sheet of the first page is asked for again in its place; a later one is left to the page's own code. */
  const bringBack = async (link: HTMLLinkElement): Promise<void> => {
    const tries = Number(link.dataset.tries ?? 0);
    if (tries === 0 && document.documentElement.dataset.started !== undefined) return;
    const wait = WAITS_MS[tries];
    if (wait === undefined) return startOver();
    await pause(wait);
    const fresh = link.cloneNode() as HTMLLinkElement;
    fresh.dataset.tries = String(tries + 1);
    link.replaceWith(fresh);
  };

  addEventListener(
    'error',
    ({ target }) => {
      if (target instanceof HTMLLinkElement && target.rel === 'stylesheet') void bringBack(target);
      if (target instanceof HTMLScriptElement && target.type === 'module') void startOver();
    },
    true,
  );
}
