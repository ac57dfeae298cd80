import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright/test';
import { screenshots } from './paths.ts';
import { expect } from './test.ts';

interface Layout {
  name: string;
  colorScheme: 'light' | 'dark';
  width: number;
  height: number;
}

const DESKTOP = { width: 1280, height: 800 };
/** With the menu next to it, the view is narrower than on some phones. */
const TABLET = { width: 768, height: 1024 };
const PHONE = { width: 360, height: 740 };
/** Maximum height of a phone screenshot, which is taller than the screen to show most of the view. */
const SCREENSHOT_HEIGHT = 2000;

/** Both themes on desktop and phone, and a tablet; for every view. */
export const ALL_LAYOUTS: readonly Layout[] = [
  { name: 'light', colorScheme: 'light', ...DESKTOP },
  { name: 'dark', colorScheme: 'dark', ...DESKTOP },
  { name: 'tablet', colorScheme: 'light', ...TABLET },
  { name: 'phone-light', colorScheme: 'light', ...PHONE },
  { name: 'phone-dark', colorScheme: 'dark', ...PHONE },
];
/** Each theme and each width once; for the states of a view. */
export const TWO_LAYOUTS: readonly Layout[] = ALL_LAYOUTS.filter(({ name }) =>
  /^(light|phone-dark)$/.test(name),
);
/** Variants that axe checks, which takes a second each; they cover every colour and width. */
const CHECKED: ReadonlySet<Layout> = new Set(TWO_LAYOUTS);

const SETTLED = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))`;

/** About 250 screenshots are for people, not for a comparison, so `npm test` skips their cost. */
const TAKES_SCREENSHOTS = process.env.SVC_SCREENSHOTS === '1';

/** Elements wider than the window, and on a desktop a window that scrolls in addition to the view. */
const TOO_BIG = `[
  ...[document.documentElement, document.body, document.querySelector('main')]
    .filter((element) => element.scrollWidth > element.clientWidth)
    .map((element) => element.tagName + ' is wider than the window: ' + element.scrollWidth),
  ...[document.documentElement]
    .filter((element) => innerWidth >= 720 && element.scrollHeight > element.clientHeight)
    .map((element) => 'the window scrolls: ' + element.scrollHeight),
]`;

/** Focus guards of the component library, which axe reports falsely. */
const FOCUS_GUARDS = '[data-base-ui-focus-guard]';

/** A script without effect, for a page that has axe. */
const NOTHING = ';';

/** Returns the violations on a page. Loads axe, 600 kB of script, at the first call for a document only. */
async function axeFaults(page: Page): Promise<string[]> {
  const hasAxe = await page.evaluate<boolean>("typeof axe === 'object'");
  const { violations } = await new AxeBuilder({ page, ...(hasAxe && { axeSource: NOTHING }) })
    .exclude(FOCUS_GUARDS)
    .setLegacyMode(true) // the page has no frames, so results need no second page
    .options({ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } })
    .analyze();
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `axe ${id}: ${target.join(' ')} ${failureSummary ?? ''}`),
  );
}

async function faultsOf(page: Page, layout: Layout): Promise<string[]> {
  const violations = CHECKED.has(layout) ? await axeFaults(page) : [];
  return [...violations, ...(await page.evaluate<string[]>(TOO_BIG))];
}

async function takeScreenshot(page: Page, name: string, viewport: { width: number; height: number }) {
  const height = await page.evaluate<number>('document.documentElement.scrollHeight');
  if (height > viewport.height)
    await page.setViewportSize({ ...viewport, height: Math.min(SCREENSHOT_HEIGHT, height) });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

/**
 * Expects no accessibility violation and no sideways scrolling in any variant. Takes a screenshot of each where
 * `SVC_SCREENSHOTS` is set, as `npm run e2e` does.
 */
export async function inspect(page: Page, name: string, layouts: readonly Layout[]): Promise<void> {
  const faults: string[] = [];
  const before = page.viewportSize() ?? DESKTOP;
  for (const each of layouts) {
    const { name: layout, colorScheme, ...viewport } = each;
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize(viewport);
    await page.evaluate(SETTLED);
    faults.push(...(await faultsOf(page, each)).map((fault) => `${layout}: ${fault}`));
    if (TAKES_SCREENSHOTS) await takeScreenshot(page, `${name}-${layout}`, viewport);
  }
  await page.setViewportSize(before);
  expect(faults, faults.join('; ')).toEqual([]);
}
