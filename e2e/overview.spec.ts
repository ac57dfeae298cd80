import { send } from '../daemon/test/harness/http.ts';
import { waitForSlotState } from '../daemon/test/harness/slots.ts';
import { chatWith, startThree } from '../daemon/test/harness/three-models.ts';
import { ALL_LAYOUTS, inspect } from './harness/inspect-layouts.ts';
import { daemonOf, expect, test } from './harness/test.ts';

/** Three real models with memory for one; one has served requests, an upstream is down. */
const daemon = daemonOf(async () => {
  const gateway = await startThree();
  await send(gateway, 'POST', '/api/slots/red/load');
  await waitForSlotState(gateway, 'red', 'ready');
  for (let turn = 0; turn < 3; turn += 1) await chatWith(gateway, 'red');
  await send(gateway, 'POST', '/v1/chat/completions', { body: { model: 'missing', messages: [] } });
  const body = { name: 'gone', base_url: 'http://127.0.0.1:9/v1' };
  await send(gateway, 'POST', '/api/upstreams', { body });
  for (let turn = 0; turn < 3; turn += 1)
    await send(gateway, 'POST', '/api/upstreams/gone/test', { body: {} });
  return gateway;
});

/** Sums the layout shifts of a page as the browser reports them. */
const COUNT_SHIFTS = `
  globalThis.shifts = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) globalThis.shifts += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

for (const [name, width, height] of [
  ['desktop', 1440, 900],
  ['phone', 390, 844],
] as const) {
  test(`nothing moves while the overview loads, on a ${name}`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    await page.addInitScript(COUNT_SHIFTS);
    // Each response takes as long as on a slow network.
    await page.route('**/api/**', async (route) => {
      if (route.request().url().endsWith('/api/events')) return route.continue();
      await new Promise((done) => setTimeout(done, 100 + Math.random() * 300));
      await route.continue();
    });
    await page.goto(`${daemon().url}/overview`);
    await expect(page.getByRole('img', { name: /^Requests per minute/ })).toBeVisible();
    await expect(page.getByRole('list', { name: /^Memory forecast for/ })).toBeVisible();
    await expect(page.getByRole('list', { name: 'Issues' })).toBeVisible();
    await expect.poll(() => page.evaluate<number>('globalThis.shifts')).toBeLessThan(0.1);
  });
}

test('shows the last hour, the use of memory, the needs of the next loads, and open issues', async ({
  page,
}) => {
  await page.goto(`${daemon().url}/overview`);
  const hour = page.getByRole('region', { name: 'Last hour' });
  await expect(
    hour.getByRole('img', { name: /^Requests per minute in the last hour: [34] requests/ }),
  ).toBeVisible();
  await expect(hour.getByRole('img', { name: /^Median time to first token .*: \d/ })).toBeVisible();
  await expect(hour).toContainText('No data from before the last start.');
  const memory = page.getByRole('region', { name: 'Memory' });
  const next = memory.getByRole('list', { name: /^Memory forecast for/ }).getByRole('listitem');
  await expect(next).toHaveCount(2);
  await expect(next.filter({ hasText: 'blue' })).toContainText(/blue \(blue-model\) needs \d+ MiB\. .*red/);
  const concern = page.getByRole('list', { name: 'Issues' }).getByRole('listitem');
  await expect(concern).toContainText('Upstream gone isn’t responding correctly: It refused the connection');
  await expect(page.getByRole('row', { name: /^red / })).toContainText('tok/s');
  await inspect(page, 'overview-busy', ALL_LAYOUTS);
  const slots = page.getByRole('table', { name: 'Slots' });
  for (const width of [360, 600, 719, 720, 768, 1024, 1080, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const over = await slots.evaluate((table) => table.scrollWidth - (table.parentElement?.clientWidth ?? 0));
    expect([width, over]).toEqual([width, 0]);
  }
  await chatWith(daemon(), 'red');
  await expect(
    hour.getByRole('img', { name: /^Requests per minute in the last hour: [45] requests/ }),
  ).toBeVisible();
  await test.step('a slot leads to its card', async () => {
    await page.getByRole('table', { name: 'Slots' }).getByRole('link', { name: 'green' }).click();
    await expect(page).toHaveURL(/\/slots\?slot=green$/);
    await expect(page.getByRole('article', { name: 'green' })).toBeFocused();
    await page.goBack();
  });
  await next.filter({ hasText: 'blue' }).getByRole('link', { name: 'blue' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alertdialog', { name: 'Load blue-model into slot blue?' })).toBeVisible();
});
