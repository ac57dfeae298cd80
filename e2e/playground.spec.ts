import { readFileSync } from 'node:fs';
import type { Page } from 'playwright/test';
import { type ComfyStandIn, comfyStandIn } from '../daemon/test/harness/comfy-stand-in.ts';
import { TONE_TEXT } from '../daemon/test/harness/tone-gateway.ts';
import { code, ran } from './harness/code-samples.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { composer, sendMessage, submitMessage, waitForReply } from './harness/playground.ts';
import { REPLY, startStudio } from './harness/playground-gateway.ts';
import { daemonOf, expect, test } from './harness/test.ts';

/** A STAND-IN draws: ComfyUI needs a GPU. Everything else is a real engine with a tiny model. */
let comfy: ComfyStandIn;
const daemon = daemonOf(async () => {
  comfy = await comfyStandIn();
  const img = `type = "image"\nengine = "comfyui"\nrunner = "attach"\nurl = "${comfy.url}"\nmodel = "sdxl-turbo"\n`;
  return startStudio({ 'config/slots/img.toml': `${img}autoload = false\n` });
});
test.afterAll(() => comfy?.stop());

const open = (page: Page, mode: string) => page.goto(`${daemon().url}/playground/${mode}`);
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

test('every mode has its URL, and the mode switch works by keyboard and on a phone', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await open(page, 'chat');
  const modes = page.getByRole('navigation', { name: 'Playground' });
  const current = modes.locator('[aria-current="page"]');
  await expect(current).toHaveText('Chat');
  await modes.getByRole('link', { name: 'Chat' }).focus();
  for (const word of ['Completion', 'Embeddings', 'Rerank', 'Speech', 'Transcription', 'Image', 'Voice']) {
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(new RegExp(`/playground/${word.toLowerCase()}$`));
    await expect(current).toHaveText(word);
    await expect(current).toBeInViewport({ ratio: 1 });
    await expect(code(page)).toBeVisible();
  }
  await page.goBack();
  await expect(current).toHaveText('Image');
  await page.reload();
  await expect(current).toHaveText('Image');
  await open(page, 'nowhere');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Page not found');
});

/** By how many pixels `main` and the document are higher than their visible part. */
const OVERFLOW = `[document.querySelector('main'), document.documentElement]
  .map((element) => element.scrollHeight - element.clientHeight)`;

for (const [name, width, height] of [
  ['desktop', 1440, 900],
  ['phone', 375, 812],
] as const) {
  test(`chat: a conversation longer than the window scrolls in its own box, on a ${name}`, async ({
    page,
  }) => {
    await page.setViewportSize({ width, height });
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n');
    await sendMessage(page, daemon().url, lines);
    await waitForReply(page);
    for (const count of [4, 6]) {
      await submitMessage(page, lines);
      await expect(page.getByRole('region', { name: 'Conversation' }).locator('ol > li')).toHaveCount(count);
      await waitForReply(page);
    }
    expect(await page.evaluate(OVERFLOW)).toEqual([0, 0]);
    await page.mouse.move(width / 2, height / 2);
    await page.mouse.wheel(0, 20_000);
    await expect(composer(page)).toBeInViewport({ ratio: 1 });
    await inspect(page, `playground-chat-long-${name}`, TWO_LAYOUTS);
  });
}

test('completion: streamed and measured; the form survives a reload', async ({ page }) => {
  await open(page, 'completion');
  await page.getByLabel('Prompt').fill('hello');
  await page.getByLabel('Max tokens').fill('12');
  await press(page, 'Complete text');
  await expect(card(page, 'Result')).toContainText(/agent · \d+ tokens/);
  await expect(code(page)).toContainText('/v1/completions');
  await expect(code(page)).toContainText('"max_tokens": 12');
  await inspect(page, 'playground-completion', TWO_LAYOUTS);
  await page.reload();
  await expect(page.getByLabel('Prompt')).toHaveValue('hello');
  await page.getByLabel('Max tokens').fill('none');
  await expect(page.getByRole('main')).toContainText('Max tokens must be a whole number');
  await expect(page.getByRole('button', { name: 'Complete text' })).toBeDisabled();
});

test('embeddings: the similarity matrix is an accessible table', async ({ page }) => {
  await open(page, 'embeddings');
  await page.getByLabel('Texts, one per line').press('Control+Enter');
  const table = page.getByRole('table', { name: /Cosine similarity/ });
  await expect(table.getByRole('row')).toHaveCount(4);
  await expect(table.getByRole('rowheader').first()).toHaveText('1 the cat sat on the mat');
  const cells = await table.getByRole('row').nth(1).getByRole('cell').allTextContents();
  expect(cells[0]).toBe('1.00');
  expect(Number(cells[1])).toBeGreaterThan(Number(cells[2]) + 0.2);
  await expect(card(page, 'Similarity')).toContainText('Closest: 1 and 2');
  await expect(card(page, 'Similarity')).toContainText(/embed · 64 dimensions · \d+ tokens/);
  await inspect(page, 'playground-embeddings', TWO_LAYOUTS);
  await test.step('on a phone the names use the width beside the numbers', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    const matrix = page.getByRole('region', { name: 'Similarity matrix' });
    expect(await matrix.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    const name = await table.getByRole('rowheader').first().boundingBox();
    expect(name?.width).toBeGreaterThan(120);
    await page.setViewportSize({ width: 1280, height: 800 });
  });
  expect(JSON.parse(await ran(page, 'curl'))).toMatchObject({ data: [{ index: 0 }, {}, {}] });
});

test('rerank: the documents, best first, with their scores', async ({ page }) => {
  await open(page, 'rerank');
  await page.getByLabel('Query').fill('where does the cat sleep');
  await page.getByLabel('Number of results').fill('3');
  await press(page, 'Rank documents');
  const ranks = page.getByRole('list', { name: 'Documents, best first' }).getByRole('listitem');
  await expect(ranks).toHaveCount(3);
  await expect(ranks.first()).toContainText(/^the cat sleeps in the basket.*\d\.\d{3}$/);
  expect(await ran(page, 'JavaScript')).toMatch(/index: 1,\s+relevance_score: \d/);
  await page.getByRole('tab', { name: 'Python' }).click();
  await expect(code(page, 'Python')).toContainText('client.post("/rerank", cast_to=httpx.Response');
  await inspect(page, 'playground-rerank', TWO_LAYOUTS);
});

test('speech can be downloaded, and its transcription is exact', async ({ page }) => {
  await open(page, 'speech');
  await page.getByLabel('Text').fill(TONE_TEXT);
  await page.getByLabel('Format').selectOption('wav');
  await expect(page.getByLabel('Voice', { exact: true }).getByRole('option')).toHaveCount(3);
  await press(page, 'Generate speech');
  const sound = card(page, 'Audio');
  await expect(sound).toContainText(/tts · first audio .+ · total/);
  const played = page.locator('audio');
  await expect
    .poll(() => played.evaluate((element) => (element as unknown as { duration: number }).duration))
    .toBe(3);
  await inspect(page, 'playground-speech', TWO_LAYOUTS);
  const download = page.waitForEvent('download');
  await sound.getByRole('link', { name: /^Download wav/ }).click();
  const file = await (await download).path();
  expect((await download).suggestedFilename()).toBe('speech.wav');

  await open(page, 'transcription');
  await page.getByLabel('Audio file').setInputFiles({
    name: 'speech.wav',
    mimeType: 'audio/wav',
    buffer: readFileSync(file),
  });
  await press(page, 'Transcribe');
  await expect(card(page, 'Transcript')).toContainText(TONE_TEXT);
  await expect(code(page)).toContainText("-F 'model=stt'");
  await page.getByLabel('Format').selectOption('srt');
  await press(page, 'Transcribe');
  await expect(card(page, 'Transcript')).toContainText('00:00:00,000 --> 00:00:03,000');
  await inspect(page, 'playground-transcription', TWO_LAYOUTS);
});

test('an error shows the message of the catalogue, and no input is lost', async ({ page, watch }) => {
  watch.allow(/status of 415 .*\/v1\/audio\/transcriptions$/);
  await open(page, 'transcription');
  await page.getByLabel('Spoken language').fill('en');
  await page.getByLabel('Audio file').setInputFiles({
    name: 'noise.mp3',
    mimeType: 'audio/mpeg',
    buffer: Buffer.alloc(20_000, 'this is no sound at all '),
  });
  await press(page, 'Transcribe');
  const alert = page.getByRole('main').getByRole('alert');
  await expect(alert).toContainText('audio.unsupported_format');
  await expect(page.getByLabel('Spoken language')).toHaveValue('en');
  await expect(page.getByText('noise.mp3, 20 KiB.')).toBeVisible();
  await expect(alert.getByRole('button', { name: 'Try again' })).toBeEnabled();
});

test('image by a STAND-IN: generated with progress, shown from the cache, with its parameters', async ({
  page,
}) => {
  await open(page, 'image');
  await page.getByLabel('Prompt').fill('a lighthouse SLOW');
  await page.getByLabel('Images').selectOption('2');
  await page.getByLabel('Size').selectOption('512x512');
  await page.getByLabel('Seed').fill('7');
  await press(page, 'Generate image');
  const images = page.getByRole('img', { name: /^a lighthouse SLOW \(\d of 2\)$/ });
  await expect(images).toHaveCount(2);
  await expect
    .poll(() =>
      images.first().evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth),
    )
    .toBe(512);
  await expect(page.getByRole('main')).toContainText('sdxl-turbo');
  await expect(code(page)).toContainText('"extra_body": {');
  await inspect(page, 'playground-image', TWO_LAYOUTS);
  await page.getByLabel('Prompt').fill('a lighthouse HANG');
  await page.getByLabel('Steps').fill('2');
  await press(page, 'Generate image');
  const progress = page.getByRole('progressbar', { name: 'Image progress' });
  await expect(progress).toContainText(/Generating, \d+ %/);
  await expect(images).toHaveCount(2);
  await press(page, 'Stop');
  await expect(page.getByRole('status').filter({ hasText: 'Stopped.' })).toBeVisible();
  await expect(progress).toHaveCount(0);
});

test('without a suitable model the page explains how to get one', async ({ page }) => {
  await page.route('**/v1/models?*', (route) => route.fulfill({ json: { object: 'list', data: [] } }));
  await open(page, 'rerank');
  await expect(page.getByText('No reranking model yet')).toBeVisible();
  await expect(page.getByText('svcctl models catalog rerank')).toBeVisible();
  await expect(page.getByRole('main').getByRole('link', { name: 'Open slots' })).toBeVisible();
  await inspect(page, 'playground-no-model', TWO_LAYOUTS.slice(1));
});

/** One pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const TOOL = {
  type: 'function',
  function: { name: 'get_time', parameters: { type: 'object', properties: {} } },
};

test('chat: the user enters the result of a tool call, and the model continues', async ({ page }) => {
  await open(page, 'chat');
  await page.getByRole('textbox', { name: 'Your tools' }).fill(JSON.stringify([TOOL]));
  const message = page.getByRole('textbox', { name: 'Message' });
  await message.fill('hello');
  await message.press('Enter');
  const result = page.getByRole('textbox', { name: 'Result of get_time' });
  await result.fill('{"time":"noon"}');
  await inspect(page, 'playground-chat-call', ALL_LAYOUTS);
  const request = page.waitForRequest('**/v1/chat/completions');
  await result.press('Control+Enter');
  const { messages } = (await request).postDataJSON() as { messages: { role: string; content: unknown }[] };
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  expect(messages.at(-1)).toMatchObject({ content: '{"time":"noon"}' });
  const transcript = page.getByRole('region', { name: 'Conversation' });
  await expect(transcript).toContainText(REPLY);
  await expect(result).toHaveCount(0);
  await page.getByRole('list', { name: 'Tool calls' }).getByText('get_time', { exact: true }).click();
  await expect(transcript).toContainText('"time": "noon"');
  await page.reload();
  await expect(transcript).toContainText(REPLY);
  await message.fill('And now?');
  const next = page.waitForRequest('**/v1/chat/completions');
  await message.press('Enter');
  expect(((await next).postDataJSON() as { messages: object[] }).messages).toHaveLength(5);
});

/** Pastes a file and optionally a text into the message. Returns whether the browser inserts the text itself. */
const paste = (page: Page, base64: string, text: string): Promise<boolean> =>
  page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    const bytes = Uint8Array.from(atob('${base64}'), (letter) => letter.charCodeAt(0));
    clipboardData.items.add(new File([bytes], 'pasted.png', { type: 'image/png' }));
    clipboardData.setData('text/plain', '${text}');
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    return document.querySelector('textarea[aria-label=Message]').dispatchEvent(event);
  })()`);

test('chat: tool calls are part of the answer, images are sent to models with vision', async ({
  page,
  watch,
}) => {
  watch.allow(/status of 4\d\d .*\/v1\/chat\/completions$/);
  await page.route('**/v1/models', async (route) => {
    const answer = await route.fetch();
    const list = (await answer.json()) as {
      data: { id: string; architecture: { input_modalities: string[] } }[];
    };
    for (const row of list.data) if (row.id === 'agent') row.architecture.input_modalities.push('image');
    await route.fulfill({ response: answer, json: list });
  });
  await open(page, 'chat');
  const message = page.getByRole('textbox', { name: 'Message' });
  await page.getByRole('textbox', { name: 'Your tools' }).fill('[{');
  await expect(page.getByText('This is not valid JSON yet')).toBeVisible();
  await page.getByRole('textbox', { name: 'Your tools' }).fill(JSON.stringify([TOOL]));
  await message.fill('hello');
  await message.press('Enter');
  const calls = page.getByRole('list', { name: 'Tool calls' });
  await calls.getByText('get_time', { exact: true }).click();
  await expect(calls).toContainText('"zone": "UTC"');
  await page.getByRole('textbox', { name: 'Your tools' }).fill('');
  await page.getByLabel('Image file').setInputFiles({
    name: 'pixel.png',
    mimeType: 'image/png',
    buffer: Buffer.from(PIXEL, 'base64'),
  });
  await message.fill('What is it?');
  await expect(page.getByRole('img', { name: '1 of 1' })).toBeVisible();
  expect(await paste(page, PIXEL, 'words')).toBe(true);
  await expect(page.getByRole('img', { name: '2 of 2' })).toBeVisible();
  await page.getByRole('button', { name: 'Remove image 2' }).click();
  await expect(page.getByRole('img', { name: '1 of 1' })).toBeVisible();
  expect(await paste(page, btoa('no picture'), '')).toBe(false);
  await expect(page.getByText('The browser cannot read this image file.')).toBeVisible();
  await page.getByRole('tab', { name: 'Code' }).click();
  await expect(code(page)).toContainText('"url": "data:image/jpeg;base64,');
  await inspect(page, 'playground-chat-picture', TWO_LAYOUTS);
  await message.press('Enter');
  await expect(page.getByRole('img', { name: 'Sent, 1 of 1' })).toBeVisible();
  await expect(page.getByRole('region', { name: 'Conversation' }).getByRole('alert')).toBeVisible();
});
