import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright/test';
import type { Gateway } from '../daemon/test/harness/gateway.ts';
import { ran } from './harness/code-samples.ts';
import { inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { artifacts } from './harness/paths.ts';
import { REPLY, spoken, startStudio } from './harness/playground-gateway.ts';
import { daemonOf, expect, test } from './harness/test.ts';
import { withQuiet } from './harness/wav.ts';
import config from './playwright.config.ts';

/** Input of the fake microphone: a recording of the tone voice with silence around it. */
const RECORDING = join(artifacts, 'heard.wav');
const SPOKEN_TEXT = 'what a day.';
const launch = config.use?.launchOptions ?? {};

test.use({
  launchOptions: {
    ...launch,
    args: [
      ...(launch.args ?? []),
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${RECORDING}`,
    ],
  },
});

let recording: Buffer;
const daemon = daemonOf(async (): Promise<Gateway> => {
  const gateway = await startStudio();
  recording = await spoken(gateway, SPOKEN_TEXT);
  mkdirSync(artifacts, { recursive: true });
  writeFileSync(RECORDING, withQuiet(recording, 1, 2));
  return gateway;
});

const rows = (page: Page) => page.getByRole('region', { name: 'Transcript' }).getByRole('listitem');
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const stages = (page: Page) => page.getByRole('region', { name: 'Latency' });

async function start(page: Page, button: string, origin = daemon().url): Promise<void> {
  await page.goto(`${origin}/playground/voice`);
  await press(page, button);
  await expect(page.getByLabel('Type a message')).toBeVisible();
}

test('typed message: the answer is spoken, both sides are transcribed, every stage has a time', async ({
  page,
}) => {
  await start(page, 'Start without a microphone');
  await page.getByLabel('Type a message').fill('hello');
  await page.getByLabel('Type a message').press('Enter');
  await expect(rows(page)).toHaveCount(2);
  await expect(rows(page).first()).toContainText('hello');
  await expect(rows(page).last()).toContainText(REPLY);
  await expect(stages(page)).toContainText('First token');
  await expect(stages(page)).toContainText('First audio');
  await expect(stages(page)).toContainText('Time to first audio');
  await inspect(page, 'playground-voice', TWO_LAYOUTS);
  await press(page, 'End call');
  await expect(page.getByRole('button', { name: 'Start talking' })).toBeVisible();
  await expect(rows(page)).toHaveCount(2);
  expect(await ran(page, 'JavaScript')).toBe(REPLY);
});

test('recording: the transcription is exact, and the model answers', async ({ page }) => {
  await start(page, 'Start without a microphone');
  await page
    .getByLabel('Or upload a recording')
    .setInputFiles({ name: 'said.wav', mimeType: 'audio/wav', buffer: recording });
  await expect(rows(page).first()).toContainText(SPOKEN_TEXT);
  await expect(rows(page).last()).toContainText(REPLY);
  await expect(stages(page)).toContainText('Speech recognised');
  await page
    .getByLabel('Or upload a recording')
    .setInputFiles({ name: 'no.wav', mimeType: 'audio/wav', buffer: Buffer.from('no sound') });
  await expect(page.getByText('The browser cannot decode this file.')).toBeVisible();
});

test('an interrupted answer ends at the text that was played', async ({ page }) => {
  await page.goto(`${daemon().url}/playground/voice`);
  await page.getByRole('combobox', { name: 'Model' }).click();
  await page.getByRole('option', { name: /^orator/ }).click();
  await press(page, 'Start without a microphone');
  await page.getByLabel('Type a message').fill('hello');
  await page.getByLabel('Type a message').press('Enter');
  await expect(stages(page).or(rows(page).last())).toContainText('word9');
  await expect.poll(async () => (await rows(page).last().textContent())?.length).toBeGreaterThan(200);
  await press(page, 'Interrupt');
  await expect(rows(page).last()).toContainText('Interrupted');
  await expect(rows(page).last()).not.toContainText('word199');
  await expect(page.getByRole('status').filter({ hasText: 'Ready' })).toBeVisible();
});

test('microphone: speech becomes a turn, and the model answers', async ({ page }) => {
  await start(page, 'Start talking');
  await expect(page.getByRole('button', { name: 'Microphone off' })).toBeVisible();
  await expect(rows(page).first()).toContainText('You');
  // The fake microphone repeats its file, so the answer may follow a second turn.
  await expect(rows(page).filter({ hasText: REPLY }).first()).toBeVisible();
  await press(page, 'Microphone off');
  await expect(page.getByRole('button', { name: 'Microphone on' })).toBeVisible();
  await press(page, 'End call');
});

test('on plain HTTP the page explains why the microphone is unavailable, and typing works', async ({
  page,
  watch,
}) => {
  watch.allow(/^The Cross-Origin-Opener-Policy header has been ignored/);
  const lan = `http://gateway.lan.test:${daemon().port}`;
  await page.goto(`${lan}/playground/transcription`);
  await expect(page.getByText('The microphone needs HTTPS or localhost.')).toBeVisible();
  await expect(page.getByLabel('Audio file')).toBeVisible();
  await start(page, 'Start without a microphone', lan);
  await expect(page.getByText('The microphone needs HTTPS or localhost.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Start talking' })).toHaveCount(0);
  await page.getByLabel('Type a message').fill('hello');
  await press(page, 'Send');
  await expect(rows(page).last()).toContainText(REPLY);
  await inspect(page, 'playground-voice-plain-http', TWO_LAYOUTS.slice(1));
});
