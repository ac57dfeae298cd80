import type { Page } from 'playwright/test';
import { send } from '../daemon/test/harness/http.ts';
import { openStream } from '../daemon/test/harness/stream.ts';
import { ENDLESS, startTiny } from '../daemon/test/harness/tiny-gateway.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { daemonOf, expect, test } from './harness/test.ts';

const chat = (model: string, content = 'x', max_tokens = 12) => ({
  model,
  messages: [{ role: 'user', content }],
  max_tokens,
});

/** Real requests: two that were served and one for a missing model. */
const daemon = daemonOf(async () => {
  const gateway = await startTiny({
    files: { 'config/slots/other.toml': 'model = "tiny"\nautoload = false\n' },
  });
  for (const model of ['agent', 'tiny', 'missing'])
    await send(gateway, 'POST', '/v1/chat/completions', { body: chat(model) });
  return gateway;
});

const rows = (page: Page) => page.getByRole('table', { name: 'Requests' }).getByRole('row');

test('the list is live, can be filtered, and a row opens its details', async ({ page }) => {
  await page.goto(`${daemon().url}/requests`);
  await expect(rows(page)).toHaveCount(4);
  await send(daemon(), 'POST', '/v1/chat/completions', { body: chat('agent') });
  await expect(rows(page)).toHaveCount(5);
  await inspect(page, 'requests', ALL_LAYOUTS);
  await page.getByRole('searchbox', { name: 'Filter requests' }).fill('chat 404');
  await expect(rows(page)).toHaveCount(2);
  await expect(page).toHaveURL(/q=chat/);
  await page.getByRole('button', { name: 'missing' }).press('Enter');
  const story = page.getByRole('dialog', { name: 'Request details' });
  await expect(story.getByRole('list', { name: 'Routing steps' })).toContainText(
    'this model is not installed',
  );
  await expect(story).toContainText('Not routed: no step matched.');
  await expect(story).not.toContainText('Time to first');
  await expect(story.getByRole('link', { name: 'Add a slot' })).toBeVisible();
  await page.goBack();
  await expect(story).toHaveCount(0);
  await expect(page.getByRole('searchbox', { name: 'Filter requests' })).toHaveValue('chat 404');
  await page.getByRole('searchbox', { name: 'Filter requests' }).fill('nothing like it');
  await expect(page.getByText('No requests match')).toBeVisible();
  await page.getByRole('button', { name: 'Show all requests' }).click();
  await page.getByRole('button', { name: 'tiny' }).first().click();
  await expect(story.getByRole('list', { name: 'Routing steps' })).toContainText('Matched');
  await expect(story).toContainText('Routed to slot agent');
  await inspect(page, 'requests-story', TWO_LAYOUTS);
});

test('a refresh preserves the focused row', async ({ page }) => {
  await page.goto(`${daemon().url}/requests`);
  const row = page.getByRole('button', { name: 'missing' }).first();
  await row.focus();
  const before = await rows(page).count();
  await send(daemon(), 'POST', '/v1/chat/completions', { body: chat('agent') });
  await expect(rows(page)).toHaveCount(before + 1);
  await expect(row).toBeFocused();
});

test('older pages have no gap when new requests push rows off the first page', async ({ page }) => {
  const [like] = (await send(daemon(), 'GET', '/api/requests')).json<{ recent: object[] }>().recent;
  const down = (from: number, many: number) =>
    Array.from({ length: many }, (_, at) => ({
      ...like,
      id: `r${from - at}`,
      asked: null,
      model: `m${from - at}`,
    }));
  let newest = 1000;
  await page.route('**/api/requests*', (route) => {
    const before = new URL(route.request().url()).searchParams.get('before');
    const recent = before === null ? down(newest, 200) : down(Number(before.slice(1)) - 1, 20);
    return route.fulfill({ json: { running: [], recent, refused: [] } });
  });
  await page.goto(`${daemon().url}/requests`);
  await page.getByRole('button', { name: 'Show older entries' }).click();
  await expect(rows(page)).toHaveCount(1 + 220);
  newest = 1030;
  await send(daemon(), 'POST', '/v1/chat/completions', { body: chat('agent') });
  await expect(rows(page)).toHaveCount(1 + 250);
  for (const model of ['m1030', 'm801', 'm800', 'm781'])
    await expect(page.getByRole('button', { name: model, exact: true })).toHaveCount(1);
});

test('the table stays in its card at every width', async ({ page }) => {
  await page.goto(`${daemon().url}/requests`);
  await expect(rows(page).nth(1)).toBeVisible();
  for (const width of [360, 599, 600, 719, 720, 768, 900, 1024, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    const wide = page
      .getByRole('region', { name: 'List of requests' })
      .evaluate((place) => place.scrollWidth - place.clientWidth);
    expect([width, await wide]).toEqual([width, 0]);
    const document = page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect([width, await document]).toEqual([width, 0]);
  }
});

test('a running request is shown and can be cancelled', async ({ page }) => {
  await page.goto(`${daemon().url}/requests?only=running`);
  const stream = await openStream(daemon(), '/v1/chat/completions', {
    ...chat('agent', ENDLESS, 30_000),
    stream: true,
  });
  await page
    .getByRole('button', { name: 'agent' })
    .or(page.getByRole('button', { name: 'tiny' }))
    .first()
    .click();
  const story = page.getByRole('dialog', { name: 'Request details' });
  await expect(story.getByText(/Running for/)).toBeVisible();
  await story.getByRole('button', { name: 'Cancel request…' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel request', exact: true }).click();
  await stream.ended;
  await expect(story.getByRole('button', { name: 'Cancel request…' })).toHaveCount(0);
});

test('explain shows the routing steps and the load that would follow; its URL can be shared', async ({
  page,
}) => {
  await page.goto(`${daemon().url}/requests/explain`);
  await page.getByLabel('Model').fill('other');
  await page.getByLabel('Model').press('Enter');
  await expect(page).toHaveURL(/model=other/);
  await expect(page.getByLabel('Model')).toBeFocused();
  await expect(page.getByText('Goes to slot other, which loads its model first.')).toBeVisible();
  await expect(page.getByRole('list', { name: 'Routing steps' }).getByRole('listitem')).toHaveCount(5);
  await expect(page.getByText('Available for this load')).toBeVisible();
  await inspect(page, 'requests-explain', ALL_LAYOUTS);
  await page.goto(`${daemon().url}/requests/explain?path=%2Fv1%2Fchat%2Fcompletions&model=missing`);
  await expect(page.getByText('No slot or upstream serves the model "missing".')).toBeVisible();
});

test('usage is summed by day, tier and model', async ({ page }) => {
  await page.goto(`${daemon().url}/requests/usage?by=model`);
  await expect(page.getByRole('row', { name: /^tiny/ })).toBeVisible();
  await page.getByRole('button', { name: 'By tier' }).click();
  await expect(page.getByRole('row', { name: /^without a key/ })).toBeVisible();
  await expect(page).toHaveURL(/by=tier/);
  await expect(page.getByRole('button', { name: 'What is a tier?' })).toBeVisible();
  await inspect(page, 'usage', TWO_LAYOUTS);
  const show = async (days: object[]) => {
    await page.unroute('**/api/usage*');
    await page.route('**/api/usage*', (route) =>
      route.fulfill({ json: { since: '2026-01-01', days, truncated: false } }),
    );
    await page.reload();
  };
  const sums = { day: '2026-01-02', tier: 'client', requests: 3, prompt_tokens: 40, completion_tokens: 50 };
  await show([
    { ...sums, model: 'far', uncounted: 2 },
    { ...sums, model: 'near', uncounted: 0 },
  ]);
  await page.getByRole('button', { name: 'By model' }).click();
  await expect(page.getByRole('row', { name: 'far 3 at least 40 at least 50' })).toBeVisible();
  await expect(page.getByRole('row', { name: 'near 3 40 50' })).toBeVisible();
  await expect(page.getByText('Sums with ≥ are minimums: 2 requests have no token counts.')).toBeVisible();
  await inspect(page, 'usage-incomplete', TWO_LAYOUTS);
  await show([]);
  await expect(page.getByText('No requests in this period')).toBeVisible();
});

test('the texts of a request are in its details only when the setting enables it', async ({ page }) => {
  const capture = (captureBodies: boolean) =>
    send(daemon(), 'PUT', '/api/settings', { body: { values: { captureBodies } } });
  await capture(true);
  await send(daemon(), 'POST', '/v1/chat/completions', { body: chat('agent', 'swordfish') });
  await capture(false);
  await page.goto(`${daemon().url}/requests`);
  await rows(page).nth(1).getByRole('button').click();
  const story = page.getByRole('dialog', { name: 'Request details' });
  await expect(story.getByRole('region', { name: 'the request body' })).toContainText('swordfish');
  await expect(story.getByRole('region', { name: 'the response body' })).toContainText('chat.completion');
  await inspect(page, 'requests-said', TWO_LAYOUTS);
  await send(daemon(), 'POST', '/v1/chat/completions', { body: chat('agent', 'swordfish') });
  await page.goto(`${daemon().url}/requests`);
  await rows(page).nth(1).getByRole('button').click();
  await expect(story.getByRole('region', { name: 'Routing' })).toBeVisible();
  await expect(story).not.toContainText('swordfish');
});
