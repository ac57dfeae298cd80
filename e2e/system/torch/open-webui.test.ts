/**
 * docs/guide/companion.md with a real Open WebUI, in a browser: chat, documents, speech in and out, images, a voice call, and no
 * connection to anything but the gateway. Needs `--with torch` because of its size (2 GB).
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright';
import { expect as pageExpect } from 'playwright/test';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tinyChat } from '../../../daemon/models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../../../daemon/models/testing/gguf/tiny-embed.ts';
import { freePort } from '../../../daemon/slots/runners/ports.ts';
import { CLIENT_KEY, KEYS_FILE } from '../../../daemon/test/harness/gateway.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { type SdStandIn, sdSlot, sdStandIn } from '../../../daemon/test/harness/sd-stand-in.ts';
import { startTones } from '../../../daemon/test/harness/tone-gateway.ts';
import { withQuiet } from '../../harness/wav.ts';
import { availableOrSkip } from '../harness/unavailable.ts';
import { type OpenWebui, openWebui, startOpenWebui } from './open-webui-server.ts';

const MINUTE = 60_000;
/** Open WebUI sends 36 tools: the vocabulary of the tiny model makes 26,000 tokens of them. */
const LIMIT_MS = 4 * MINUTE;
const ANSWER_LIMIT_MS = 2 * MINUTE;
const PAGE_LIMIT_MS = MINUTE;
const CONTEXT = 65_536;
const REPLY = 'Hello from the gateway.';
/** What the microphone of the browser hears, again and again. */
const SPOKEN = 'what a day.';
/** Seconds of silence before it, until the page records, and after it: Open WebUI ends a turn of a call after two. */
const SILENCE_S = { before: 3, after: 12 };
const RECORDING_MS = 8_000;
const expectInPage = pageExpect.configure({ timeout: PAGE_LIMIT_MS });

const python = await availableOrSkip('Open WebUI as the companion', openWebui);

describe.skipIf(python === null)('Open WebUI as the companion', () => {
  let images: SdStandIn;
  beforeAll(async () => {
    images = await sdStandIn();
  });
  afterAll(() => images.stop());
  const gateway = new OneGateway(() =>
    startTones({
      models: {
        talker: tinyChat({ reply: REPLY, context: CONTEXT }),
        painter: tinyChat({
          reply: REPLY,
          context: CONTEXT,
          tool: { name: 'generate_image', args: { prompt: 'A blue cat' } },
        }),
        vectors: tinyEmbed(),
      },
      env: { SVC_REQUIRE_AUTH: 'on' },
      files: {
        ...KEYS_FILE,
        'config/slots/agent.toml': `model = "talker"\ncontext = ${CONTEXT}\n`,
        'config/slots/artist.toml': `model = "painter"\ncontext = ${CONTEXT}\nautoload = false\n`,
        'config/slots/img.toml': sdSlot(images.url),
      },
    }),
  );
  let webui: OpenWebui;
  let browser: Browser;
  let context: BrowserContext;
  const foreign: string[] = [];
  const origin = () => `http://127.0.0.1:${webui.port}`;

  const record = async (): Promise<string> => {
    const body = JSON.stringify({ model: 'tts', input: SPOKEN, response_format: 'wav' });
    const headers = { authorization: `Bearer ${CLIENT_KEY}`, 'content-type': 'application/json' };
    const spoken = await fetch(`${gateway.url}/v1/audio/speech`, { method: 'POST', headers, body });
    expect(spoken.status).toBe(200);
    const path = join(mkdtempSync(join(tmpdir(), 'svc-microphone-')), 'microphone.wav');
    writeFileSync(
      path,
      withQuiet(Buffer.from(await spoken.arrayBuffer()), SILENCE_S.before, SILENCE_S.after),
    );
    return path;
  };

  beforeAll(async () => {
    const recording = await record();
    webui = await startOpenWebui(python ?? '', gateway, await freePort());
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        ...['--no-sandbox', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
        `--use-file-for-fake-audio-capture=${recording}`,
        '--autoplay-policy=no-user-gesture-required',
      ],
    });
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB' });
    context.setDefaultTimeout(PAGE_LIMIT_MS);
    context.on('request', (request) => {
      const url = new URL(request.url());
      if (url.protocol.startsWith('http') && url.origin !== origin()) foreign.push(request.url());
    });
  }, 8 * MINUTE);
  afterAll(async () => {
    await browser?.close();
    webui?.program.signal('SIGKILL');
    await webui?.program.ended;
  }, MINUTE);

  /** Opens a new chat. */
  const newChat = async (model = 'agent'): Promise<Page> => {
    const page = await context.newPage();
    await page.goto(`${origin()}/?models=${model}`);
    await page.locator('#chat-input').waitFor();
    return page;
  };
  const post = async (page: Page, text: string) => {
    await page.locator('#chat-input').click();
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  };
  const answered = (page: Page) =>
    expectInPage(page.getByText(REPLY).first()).toBeVisible({ timeout: ANSWER_LIMIT_MS });
  const routes = async (): Promise<string[]> => {
    const { recent } = (await gateway.sendAsAdmin('GET', '/api/requests?limit=100')).json<{
      recent: { route: string; status: number }[];
    }>();
    return recent.filter(({ status }) => status === 200).map(({ route }) => route);
  };

  it(
    'chat: the first user registers, the model is chosen, the answer appears and can be read aloud',
    async () => {
      const page = await context.newPage();
      await page.goto(origin());
      await page.getByRole('button', { name: 'Get started' }).click();
      await page.locator('#name').fill('Ada');
      await page.locator('#email').fill('ada@example.org');
      await page.locator('#password').fill('a long password 42');
      await page.getByRole('button', { name: 'Create Admin Account' }).click();
      await page.getByRole('button', { name: "Okay, Let's Go!" }).click();
      await expectInPage(page.getByRole('button', { name: 'Selected model: agent' })).toBeVisible();
      await post(page, 'Hello');
      await answered(page);
      const spoken = page.waitForResponse((response) => response.url().endsWith('/audio/speech'), {
        timeout: ANSWER_LIMIT_MS,
      });
      await page.getByRole('button', { name: 'Read Aloud' }).first().click();
      const response = await spoken;
      expect(response.status()).toBe(200);
      const { 'content-type': type, 'content-length': length } = await response.allHeaders();
      expect(type).toMatch(/^audio\//);
      expect(Number(length)).toBeGreaterThan(1_000);
      expect(await routes()).toEqual(expect.arrayContaining(['/v1/chat/completions', '/v1/audio/speech']));
      await page.close();
    },
    LIMIT_MS,
  );

  it(
    'a document is embedded by the gateway and cited',
    async () => {
      const page = await newChat();
      const buffer = Buffer.from('The cat is called Minka and sleeps on the blue mat.');
      const stored = page.waitForResponse((response) => response.url().includes('/process/status'));
      await page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name: 'cat.txt', mimeType: 'text/plain', buffer });
      await (await stored).finished();
      await post(page, 'Where does the cat sleep?');
      await answered(page);
      await expectInPage(page.getByText('1 Source')).toBeVisible();
      expect(await routes()).toContain('/v1/embeddings');
      await page.close();
    },
    LIMIT_MS,
  );

  it(
    'a dictated message is written by the gateway',
    async () => {
      const page = await newChat();
      await page.locator('#voice-input-button').click();
      // The length of the recording: its speech is within the first seconds.
      await page.waitForTimeout(RECORDING_MS);
      await page.locator('#confirm-recording-button').click();
      await expectInPage(page.locator('#chat-input')).toContainText(SPOKEN);
      // A draft is stored for the next chat.
      await page.locator('#chat-input').fill('');
      await page.close();
    },
    LIMIT_MS,
  );

  it(
    'an image is drawn by the gateway and shown',
    async () => {
      const page = await newChat('artist');
      await page.locator('#integration-menu-button').click();
      await page.getByText('Image', { exact: true }).click();
      await page.keyboard.press('Escape');
      await post(page, 'Draw a blue cat');
      const image = page.locator('img[src*="/api/v1/files/"]').first();
      await expectInPage(image).toBeVisible({ timeout: ANSWER_LIMIT_MS });
      await expect.poll(() => image.evaluate((each) => Object(each).naturalWidth)).toBe(512);
      expect(await routes()).toContain('/v1/images/generations');
      await page.close();
    },
    LIMIT_MS,
  );

  it(
    'a voice call: the microphone is transcribed, the model answers, the answer is spoken',
    async () => {
      const page = await newChat();
      const transcripts: string[] = [];
      page.on('response', async (response) => {
        if (response.url().endsWith('/audio/transcriptions')) transcripts.push(await response.text());
      });
      const spoken = page.waitForResponse((response) => response.url().endsWith('/audio/speech'), {
        timeout: ANSWER_LIMIT_MS,
      });
      await page.getByRole('button', { name: 'Voice mode' }).click();
      expect((await spoken).status()).toBe(200);
      // On a busy machine the page records the first syllable too late.
      expect(transcripts.join()).toMatch(/"text":"[^"]+"/);
      await answered(page);
      await page.getByRole('button', { name: 'End call' }).click();
      await page.close();
    },
    LIMIT_MS,
  );

  it('nothing but the gateway was contacted', () => {
    expect(foreign).toEqual([]);
    expect(webui.program.unroutable()).toBe(webui.program.isSeparate ? 0 : null);
  });
});
