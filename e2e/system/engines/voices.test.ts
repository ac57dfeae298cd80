/** Piper and Kokoro with their real weights in the embedded engine: as published, listed, heard, and their memory. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { VoiceList } from '../../../daemon/contract/audio.ts';
import { ModelsResponse } from '../../../daemon/contract/models.ts';
import type { SlotPlanView, SlotRecord } from '../../../daemon/contract/slots.ts';
import { proportionalTreeMemory } from '../../../daemon/lib/process/process-memory.ts';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { modelFolder, newHome } from '../../../daemon/test/harness/home.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { runSlotAction, slots } from '../../../daemon/test/harness/slots.ts';
import { availableOrSkip } from '../harness/unavailable.ts';
import { espeakData, kokoroFolder, PIPER_MODEL, piperAsPublished, putFolder } from '../harness/voices.ts';

const MINUTE = 60_000;
const MIB = 1024 ** 2;
/** Kokoro computes up to ten times as long as it speaks on one of two shared cores. */
const SPEAK_LIMIT_MS = 8 * MINUTE;
/** As long as the longest piece that an engine gets at once: 160 characters. */
const LONG =
  'The gateway reads a very long sentence without any comma or pause so that the engine gets as many words at one time as it will ever get from any caller of it';
const PIPER = PIPER_MODEL.replace('.onnx', '');
const KOKORO = 'kokoro';

const prepared = await availableOrSkip('Piper and Kokoro in the embedded engine', async () => ({
  piper: await piperAsPublished(),
  kokoro: await kokoroFolder(),
  rules: await espeakData(),
}));

describe.skipIf(prepared === null)('Piper and Kokoro in the embedded engine', () => {
  const gateway = new OneGateway(() => {
    const { piper, kokoro, rules } = prepared as NonNullable<typeof prepared>;
    const home = newHome();
    const models = modelFolder(home);
    // Voice and settings as they are published. The rules of pronunciation are in one place for all voices.
    putFolder(piper, join(models, 'joe'));
    putFolder(kokoro, join(models, KOKORO));
    putFolder(rules, join(models, 'espeak-ng-data'));
    return startGateway({ home, files: { 'config/slots/agent.toml': 'enabled = false\n' } });
  });
  const slotOf = async (model: string): Promise<SlotRecord> => {
    const found = (await slots(gateway)).find((each) => each.model === model);
    if (found === undefined) throw new Error(`no slot has ${model}`);
    return found;
  };
  async function speak(model: string, voice: string, input: string): Promise<Buffer> {
    const answer = await fetch(`${gateway.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, voice, input, response_format: 'wav' }),
      signal: AbortSignal.timeout(SPEAK_LIMIT_MS),
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.status, bytes.toString('utf8', 0, 500)).toBe(200);
    return bytes;
  }

  it('both are models, no file is unusable, and the voices are listed with language and sample', async () => {
    await send(gateway, 'POST', '/api/models/scan');
    const { models, problems } = ModelsResponse.parse((await send(gateway, 'GET', '/api/models')).json());
    expect(problems).toEqual([]);
    expect(
      models
        .filter(({ type }) => type === 'tts')
        .map(({ id }) => id)
        .sort(),
    ).toEqual([PIPER, KOKORO].sort());
    const { voices } = (await send(gateway, 'GET', '/v1/audio/voices')).json<VoiceList>();
    const sample = expect.stringMatching(/\p{L}/u);
    expect(voices).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ model: PIPER, language: 'en-US', sample }),
        expect.objectContaining({ id: 'jf_alpha', model: KOKORO, language: 'ja', sample }),
      ]),
    );
  });

  it.each([
    [PIPER, 'default'],
    [KOKORO, 'jm_kumo'],
  ])(
    '%s speaks, and its estimate is within -5 %% and +25 %% of the memory after its longest piece',
    async (model, voice) => {
      const { name } = await slotOf(model);
      const { need } = (await send(gateway, 'GET', `/api/slots/${name}/plan`)).json<SlotPlanView>();
      expect(need.source).toBe('estimated');
      const wav = await speak(model, voice, LONG);
      expect(wav.toString('latin1', 0, 4)).toBe('RIFF');
      // 16 bits at 16,000 samples per second or more. The text takes at least five seconds.
      expect(wav.length).toBeGreaterThan(5 * 2 * 16_000);
      const { pid } = await slotOf(model);
      const measured = (await proportionalTreeMemory(Number(pid)))?.resident ?? 0;
      console.info(
        `${model}: estimated ${Math.round(need.total / MIB)} MiB, measured ${Math.round(measured / MIB)} MiB`,
      );
      expect(need.total / measured).toBeGreaterThan(0.95);
      expect(need.total / measured).toBeLessThan(1.25);
      await runSlotAction(gateway, name, 'unload');
    },
    SPEAK_LIMIT_MS,
  );
});
