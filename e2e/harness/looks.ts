import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright/test';
import { screenshots } from './places.ts';
import { expect } from './test.ts';

interface Look {
  name: string;
  colorScheme: 'light' | 'dark';
  width: number;
  height: number;
}

const DESKTOP = { width: 1280, height: 800 };
/** The rail stands beside the view, so that less is left for it than on some phones. */
const TABLET = { width: 768, height: 1024 };
const PHONE = { width: 360, height: 740 };
/** Pictures of a phone are longer than its screen, so that most of the view is on them. */
const PICTURE = 2000;

/** Both themes on a desktop and a phone, and the width between: for every view. */
export const ALL_LOOKS: readonly Look[] = [
  { name: 'light', colorScheme: 'light', ...DESKTOP },
  { name: 'dark', colorScheme: 'dark', ...DESKTOP },
  { name: 'tablet', colorScheme: 'light', ...TABLET },
  { name: 'phone-light', colorScheme: 'light', ...PHONE },
  { name: 'phone-dark', colorScheme: 'dark', ...PHONE },
];
/** Each theme, a desktop and a phone, once: for the states that a view can be in. */
export const TWO_LOOKS: readonly Look[] = ALL_LOOKS.filter(({ name }) => /^(light|phone-dark)$/.test(name));
/** Looks in which axe looks too, which takes a second each: every colour and every width is in one of them. */
const CHECKED: ReadonlySet<Look> = new Set(TWO_LOOKS);

const SETTLED = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))`;

/** Whatever is wider than the window, and on a desktop a window that scrolls although the view does by itself. */
const TOO_BIG = `[
  ...[document.documentElement, document.body, document.querySelector('main')]
    .filter((element) => element.scrollWidth > element.clientWidth)
    .map((element) => element.tagName + ' is wider than the window: ' + element.scrollWidth),
  ...[document.documentElement]
    .filter((element) => innerWidth >= 720 && element.scrollHeight > element.clientHeight)
    .map((element) => 'the window scrolls: ' + element.scrollHeight),
]`;

/** Empty elements of the component library that hand the focus on at once, which axe cannot see. */
const FOCUS_GUARDS = '[data-base-ui-focus-guard]';

async function axeFaults(page: Page): Promise<string[]> {
  const { violations } = await new AxeBuilder({ page })
    .exclude(FOCUS_GUARDS)
    .setLegacyMode(true) // the page has no frames, so no second page has to be opened to put results together
    .options({ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })
    .analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `axe ${id}: ${target.join(' ')} ${failureSummary ?? ''}`),
  );
}

async function faultsOf(page: Page, look: Look): Promise<string[]> {
  const places = CHECKED.has(look) ? await axeFaults(page) : [];
  return [...places, ...(await page.evaluate<string[]>(TOO_BIG))];
}

/** Keeps a picture of the page in each look and expects no accessibility fault and no sideways scrolling in any. */
export async function inspect(page: Page, name: string, looks: readonly Look[]): Promise<void> {
  const faults: string[] = [];
  const before = page.viewportSize() ?? DESKTOP;
  for (const each of looks) {
    const { name: look, colorScheme, ...viewport } = each;
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize(viewport);
    await page.evaluate(SETTLED);
    faults.push(...(await faultsOf(page, each)).map((fault) => `${look}: ${fault}`));
    const wanted = await page.evaluate<number>('document.documentElement.scrollHeight');
    if (wanted > viewport.height)
      await page.setViewportSize({ ...viewport, height: Math.min(PICTURE, wanted) });
    await page.screenshot({ path: join(screenshots, `${name}-${look}.png`) });
  }
  await page.setViewportSize(before);
  expect(faults, faults.join('; ')).toEqual([]);
}
