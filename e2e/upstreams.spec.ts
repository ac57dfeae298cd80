import { QUIET_FILE, startGateway } from '../daemon/test/harness/gateway.ts';
import { send } from '../daemon/test/harness/http.ts';
import { provider, type StandIn, standIn } from '../daemon/test/harness/stand-in.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { daemonOf, expect, test } from './harness/test.ts';

/** STAND-IN for another server: a real listener that lists two models. */
let desk: StandIn;
test.beforeAll(async () => {
  desk = await standIn(provider('qwen3-32b', 'gemma-3'));
});
test.afterAll(() => desk.stop());

const daemon = daemonOf(() => startGateway({ files: QUIET_FILE }));

test('an upstream is added, tested, changed and removed', async ({ page, watch }) => {
  watch.allow(/status of 4(09|22) .*\/api\/upstreams$/);
  watch.allow(/status of 412 .*\/api\/upstreams\/desk$/);
  await page.goto(`${daemon().url}/slots/upstreams`);
  await expect(page.getByText('No upstreams yet')).toBeVisible();
  await inspect(page, 'upstreams-empty', TWO_LAYOUTS.slice(1));
  await page.getByRole('button', { name: 'Add upstream…' }).click();
  const form = page.getByRole('dialog', { name: 'New upstream' });
  for (const required of ['Name', 'Address'])
    await expect(form.getByLabel(required, { exact: true })).toHaveAccessibleDescription(/^Required/);
  await expect(form.getByLabel('Name', { exact: true })).toHaveAttribute('placeholder', 'such as desk');
  await form.getByRole('button', { name: 'Add upstream' }).click();
  await expect(form.getByText('Enter a name.')).toBeVisible();
  await expect(form.getByText('Enter an address.')).toBeVisible();
  await expect(form).not.toContainText('Invalid input');
  await inspect(page, 'upstreams-new-empty', TWO_LAYOUTS);
  await form.getByLabel('Name', { exact: true }).fill('desk');
  await form.getByLabel('Key variable').fill('MY_KEY');
  await form.getByRole('button', { name: 'Add upstream' }).click();
  await expect(form.getByText(/UPSTREAM_DESK_KEY/)).toBeVisible();
  await form.getByLabel('Key variable').fill('');
  await form.getByLabel('Address').fill(`${desk.url}/v1`);
  await form.getByRole('button', { name: 'Add upstream' }).click();
  const item = page.getByRole('listitem').filter({ hasText: `${desk.url}/v1` });
  await expect(item).toContainText('Online');
  await item.getByRole('button', { name: 'Test upstream desk' }).click();
  const test = page.getByRole('dialog', { name: 'Test of upstream desk' });
  await test.getByLabel('Model to chat with').fill('gemma-3');
  await test.getByRole('button', { name: 'Run test' }).click();
  await expect(test.getByText('Works')).toHaveCount(3);
  await inspect(page, 'upstreams-test', TWO_LAYOUTS.slice(1));
  await page.keyboard.press('Escape');
  await item.getByRole('button', { name: 'Edit… upstream desk' }).click();
  const edit = page.getByRole('dialog', { name: 'Settings of upstream desk' });
  await edit.getByLabel('Priority').fill('7');
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(item).toContainText('7');
  await item.getByRole('button', { name: 'Edit… upstream desk' }).click();
  await edit.getByLabel('Priority').fill('8');
  await send(daemon(), 'PUT', '/api/upstreams/desk', { body: { priority: 5 } });
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(edit.getByRole('alert')).toContainText('The file changed on disk');
  await expect(edit.getByLabel('Priority')).toHaveValue('8');
  await edit.getByRole('button', { name: 'Overwrite file' }).click();
  await expect(item).toContainText('8');
  await item.getByRole('button', { name: 'Remove… upstream desk' }).click();
  const remove = page.getByRole('alertdialog', { name: 'Remove upstream desk?' });
  await expect(remove).toContainText('2 models disappear from your model list');
  await remove.getByRole('button', { name: 'Remove upstream' }).click();
  await expect(page.getByText('No upstreams yet')).toBeVisible();
});

test('an unreachable upstream shows the reason', async ({ page }) => {
  await send(daemon(), 'POST', '/api/upstreams', {
    body: { name: 'gone', base_url: 'http://127.0.0.1:9/v1' },
  });
  await send(daemon(), 'POST', '/api/upstreams', { body: { name: 'desk', base_url: `${desk.url}/v1` } });
  await send(daemon(), 'POST', '/api/upstreams/gone/test', { body: {} });
  await page.goto(`${daemon().url}/slots/upstreams`);
  await expect(page.getByText('It refused the connection: no server listens at this address.')).toBeVisible();
  await expect(page.getByText('Online')).toBeVisible();
  await inspect(page, 'upstreams', ALL_LAYOUTS);
});

test('a key variable without a value is reported on its own line', async ({ page }) => {
  await send(daemon(), 'POST', '/api/upstreams', {
    body: { name: 'far', base_url: `${desk.url}/v1`, key_env: 'UPSTREAM_FAR_AWAY_PROVIDER_KEY' },
  });
  await page.route('**/api/upstreams', async (route) => {
    const answer = await route.fetch();
    const view = await answer.json();
    const upstreams = view.upstreams.map((each: { name: string }) =>
      each.name === 'far' ? { ...each, health: 'unknown', reason: null } : each,
    );
    await route.fulfill({ json: { ...view, upstreams } });
  });
  await page.goto(`${daemon().url}/slots/upstreams`);
  await expect(page.getByText('Key missing')).toBeVisible();
  await expect(page.getByText('UPSTREAM_FAR_AWAY_PROVIDER_KEY is not set')).toBeVisible();
  await inspect(page, 'upstreams-keyless', TWO_LAYOUTS);
});

test('a key is set and cannot be read afterwards', async ({ page }) => {
  const KEY = 'sk-geheim-0123456789';
  await send(daemon(), 'POST', '/api/upstreams', { body: { name: 'my-desk', base_url: `${desk.url}/v1` } });
  await page.goto(`${daemon().url}/slots/upstreams`);
  const item = page.getByRole('listitem').filter({ hasText: 'my-desk' });
  await item.getByRole('button', { name: 'Set key… upstream my-desk' }).click();
  const dialog = page.getByRole('dialog', { name: 'Key of upstream my-desk' });
  await expect(dialog).toContainText('UPSTREAM_MY_DESK');
  await expect(dialog.getByRole('button', { name: 'Save key' })).toBeDisabled();
  await expect(dialog.getByLabel('Key')).toHaveAttribute('type', 'password');
  await inspect(page, 'upstreams-key', TWO_LAYOUTS);
  await dialog.getByLabel('Key').fill(KEY);
  await dialog.getByRole('button', { name: 'Save key' }).click();
  await expect(dialog).toBeHidden();
  await expect(item).toContainText('UPSTREAM_MY_DESK');
  await expect(item).toContainText('Online');
  await send(daemon(), 'POST', '/api/upstreams/my-desk/test', { body: {} });
  expect(desk.requests.some(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true);
  await item.getByRole('button', { name: 'Set key… upstream my-desk' }).click();
  await expect(dialog.getByLabel('Key')).toHaveValue('');
  await expect(dialog).toContainText('replaces the current key');
  expect(await page.content()).not.toContain(KEY);
});
