import type { Locator, Page } from 'playwright/test';
import { startGateway } from '../daemon/test/harness/gateway.ts';
import { runSlotAction, waitForSlotState } from '../daemon/test/harness/slots.ts';
import { ALL_LAYOUTS, inspect } from './harness/inspect-layouts.ts';
import { daemonOf, expect, test } from './harness/test.ts';

/** Two slots with the demonstration model and equal settings. */
const daemon = daemonOf(async () => {
  const gateway = await startGateway({
    files: {
      'config/slots/agent.toml': 'enabled = false\n',
      'config/slots/primary.toml': 'model = "svc-demo"\n',
      'config/slots/second.toml': 'model = "svc-demo"\n',
    },
  });
  for (const name of ['primary', 'second']) await runSlotAction(gateway, name, 'load');
  await waitForSlotState(gateway, 'second', 'ready');
  return gateway;
});

const card = (page: Page, name: string): Locator => page.getByRole('article', { name, exact: true });

test('cards name the slot that shares the engine; unloading one says that nothing is freed', async ({
  page,
}) => {
  await page.goto(`${daemon().url}/slots`);
  await expect(card(page, 'primary')).toContainText('Shares its engine with second.');
  await expect(card(page, 'second')).toContainText('Shares its engine with primary.');
  await expect(card(page, 'primary')).toContainText('Memory used');
  await expect(card(page, 'second')).not.toContainText('Memory used');
  await inspect(page, 'slots-shared-engine', ALL_LAYOUTS);
  await card(page, 'second').getByRole('button', { name: 'Unload… of slot second' }).click();
  const dialog = page.getByRole('alertdialog', { name: 'Unload slot second?' });
  await expect(dialog).toContainText('The engine stays loaded, because it is also used by primary.');
  await dialog.getByRole('button', { name: 'Unload slot', exact: true }).click();
  await expect(dialog).toHaveCount(0);
  await expect(card(page, 'primary')).toContainText('Ready');
});
