import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { SetupView } from '../daemon/contract/setup.ts';
import { splitPullName } from '../daemon/models/catalog.ts';
import { tinyChat } from '../daemon/models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../daemon/models/testing/gguf/writer.ts';
import { type FakeHub, startHub } from '../daemon/models/testing/hub.ts';
import { type Gateway, startGateway } from '../daemon/test/harness/gateway.ts';
import { send } from '../daemon/test/harness/http.ts';
import { sendMessage, turns, waitForReply } from './harness/playground.ts';
import { expect, test } from './harness/test.ts';

/** Memory for three sizes of chat models whose speed suits two cores. */
const MEMORY = '12000000000';
const BYTES_PER_SECOND = 40e9;
const SIZES = [
  ['small', 'Small'],
  ['balanced', 'Balanced'],
  ['best', 'Best'],
] as const;

let hub: FakeHub;
let gateway: Gateway;

const start = (home?: string) =>
  startGateway({ ...(home && { home }), env: { HF_ENDPOINT: hub.url, SVC_MEMORY_LIMIT: MEMORY } });

test.beforeEach(async () => {
  hub = await startHub();
  gateway = await start();
  await choices();
  const { home } = gateway;
  await gateway.stop();
  storeBandwidth(home);
  gateway = await start(home);
});
test.afterEach(async ({ page }) => {
  // The page would report requests that fail.
  await page.close();
  await gateway.stop();
  gateway.remove();
  await hub.close();
});

/** Replaces the measured speed of the memory, which depends on what else this machine does, by a final one. */
function storeBandwidth(home: string): void {
  const db = new Database(join(home, 'state', 'svc.db'));
  const key = 'hardware.memory_bandwidth';
  const { value } = db.prepare('SELECT value FROM facts WHERE key = ?').get(key) as { value: string };
  const stored = JSON.stringify({ ...JSON.parse(value), bytes_per_second: BYTES_PER_SECOND, idle: true });
  db.prepare('UPDATE facts SET value = ? WHERE key = ?').run(stored, key);
  db.close();
}

/** Waits until setup knows this machine and its speed, and returns its choices. */
async function choices(): Promise<NonNullable<SetupView['set']>> {
  let view: SetupView | undefined;
  await expect
    .poll(
      async () => {
        view = (await send(gateway, 'GET', '/api/setup')).json<SetupView>();
        return view.set?.chat.some(({ item }) => item.speed !== undefined);
      },
      { timeout: 30_000 },
    )
    .toBe(true);
  return view?.set as NonNullable<SetupView['set']>;
}

/** Puts a tiny model that replies with `reply` on the hub, under the name of an entry of the catalogue. */
function offer(model: string, reply: string): void {
  const { repo, file = 'model.gguf' } = splitPullName(model);
  const bytes = Buffer.from(encodeGguf(tinyChat({ reply, runs: false, width: 64 })));
  hub.repos = { ...hub.repos, [repo]: { files: { [file ?? 'model.gguf']: bytes }, licence: 'apache-2.0' } };
}

for (const [id, title] of SIZES) {
  test(`from an empty folder to an answer of the size ${title}`, async ({ page }) => {
    const set = await choices();
    expect(set.chat.map((choice) => choice.id)).toEqual(SIZES.map(([each]) => each));
    for (const choice of set.chat) offer(choice.item.model, `An answer of the size ${choice.id}.`);
    await page.goto(`${gateway.url}/setup`);
    const models = page.getByRole('region', { name: 'Models for this machine' });
    await expect(models.getByText('Quick start:')).toBeVisible();
    await models.getByRole('radio', { name: new RegExp(`^${title}`) }).check();
    const others = models.locator('label:not(:has-text("Chat"))').getByRole('checkbox', { checked: true });
    const download = models.getByRole('button', { name: 'Download and start this model' });
    // The list may change while the machine is still being probed.
    await expect(async () => {
      while ((await others.count()) > 0) await others.first().uncheck({ timeout: 5_000 });
      await expect(download).toBeVisible({ timeout: 1_000 });
    }).toPass();
    await expect(models.getByRole('radio', { name: new RegExp(`^${title}`) })).toBeChecked();
    await download.click();
    await expect(models.getByRole('listitem').filter({ hasText: 'in slot agent' })).toContainText('Ready');
    await sendMessage(page, gateway.url, 'Hello');
    await waitForReply(page);
    await expect(turns(page).last()).toContainText(`An answer of the size ${id}.`);
  });
}

test('the quick start is usable first, and the choices are the same after a restart', async ({ page }) => {
  const set = await choices();
  const names = set.chat.map(({ item }) => item.model);
  const { home } = gateway;
  await gateway.stop();
  gateway = await start(home);
  expect((await choices()).chat.map(({ item }) => item.model)).toEqual(names);

  const first = set.quick_start;
  if (first === null) throw new Error('setup offers no quick start');
  expect(first.size_bytes).toBeLessThan(1_000_000_000);
  offer(first.model, 'A quick answer.');
  await page.goto(`${gateway.url}/setup`);
  await page.getByRole('button', { name: `Try ${first.name} first` }).click();
  const models = page.getByRole('region', { name: 'Models for this machine' });
  await expect(models.getByRole('listitem').filter({ hasText: 'in slot agent' })).toContainText('Ready');
  await sendMessage(page, gateway.url, 'Hello');
  await waitForReply(page);
  await expect(turns(page).last()).toContainText('A quick answer.');
});
