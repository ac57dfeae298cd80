/**
 * Runs before everything else, as a classic script without imports. Sets the stored theme before the first paint, tells
 * zod to interpret schemas (the content security policy forbids eval, and zod tries it where a schema is defined), and
 * retries parts of the first page that failed to load, because browsers abort requests when the network changes. The
 * bundle cannot do that, since it may be the part that is missing.
 */
{
  /** Delay before each retry; after the last one an error is shown. */
  const WAITS_MS = [500, 2000, 5000];
  const LIMIT_MS = 5000;
  const STORAGE_KEY = 'svc.first-page';
  /** Reloads further apart than this are unrelated. */
  const FORGET_MS = 60_000;
  let reloading = false;

  try {
    const chosen = localStorage.getItem('svc.theme');
    if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
  } catch {
    // Storage is disabled: the system theme applies.
  }

  (globalThis as { __zod_globalConfig?: object }).__zod_globalConfig = { jitless: true };

  const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

  const isHealthy = (): Promise<boolean> =>
    fetch('/api/health', { cache: 'no-store', signal: AbortSignal.timeout(LIMIT_MS) }).then(
      ({ ok }) => ok,
      () => false,
    );

  /** Number of recent reloads. Returns null without storage, because reloads could then loop forever. */
  const reloads = (): number | null => {
    try {
      const [count = 0, at = 0] = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '[]') as number[];
      sessionStorage.setItem(STORAGE_KEY, JSON.stringify([count, at])); // throws when storage is disabled
      return Date.now() - at > FORGET_MS ? 0 : count;
    } catch {
      return null;
    }
  };

  const storeCount = (count: number): void => {
    try {
      sessionStorage.setItem(STORAGE_KEY, JSON.stringify([count, Date.now()]));
    } catch {
      // Storage is disabled: the next failure shows the error immediately.
    }
  };

  /** Shows an error above the page. Uses inline styles, because the style sheet may be missing. */
  const showError = (title: string, text: string): void => {
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
      storeCount(0);
      location.reload();
    });
    box.append(heading, words, button);
    place.append(box);
    document.body.prepend(place);
    document.querySelector('.still-loading')?.remove();
  };

  /** Reloads the page once the gateway responds. After a few reloads it shows an error with a button instead. */
  const startOver = async (): Promise<void> => {
    if (reloading) return;
    reloading = true;
    const count = reloads();
    const wait = count === null ? undefined : WAITS_MS[count];
    if (count === null || wait === undefined) {
      showError(
        'The dashboard did not load',
        'Part of this page could not be loaded. A changing network or a proxy can cause this; the gateway is still running.',
      );
      return;
    }
    storeCount(count + 1);
    await pause(wait);
    while (!(await isHealthy())) {
      showError('Can’t reach the gateway', 'This page loads as soon as the gateway is back.');
      await pause(LIMIT_MS);
    }
    location.reload();
  };

  addEventListener(
    'error',
    ({ target }) => {
      const isStyle = target instanceof HTMLLinkElement && target.rel === 'stylesheet';
      const isScript = target instanceof HTMLScriptElement && target.type === 'module';
      // The bundle handles its own parts once it runs.
      const isStarted = document.documentElement.dataset.started !== undefined;
      if (isScript || (isStyle && !isStarted)) void startOver();
    },
    true,
  );
}
