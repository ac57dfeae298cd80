import { expect, test } from 'vitest';
import type { InternalReply } from '../internal.ts';
import { OmniFiles } from './files.ts';
import type { ToolDeps } from './tool.ts';
import { TOOLS } from './tools.ts';

/** The longest text for speech at a slow pace, at 24,000 samples per second. */
const CHARACTERS = 4_096;
const SOUND = Math.round((CHARACTERS / 12) * 48_000);

test('the longest spoken text is delivered completely', async () => {
  async function* body() {
    for (let left = SOUND; left > 0; left -= 65_536) yield Buffer.alloc(Math.min(left, 65_536));
  }
  const answer = (): InternalReply => ({
    status: 200,
    headers: {},
    body: body(),
    inBandError: () => null,
    abort: (failure) => {
      throw failure;
    },
  });
  const files = new OmniFiles();
  const deps = { internal: async () => answer(), tier: 'client', files } as unknown as ToolDeps;
  const speak = TOOLS.find(({ name }) => name === 'text_to_speech');
  const outcome = await speak?.run(deps, { text: 'x'.repeat(CHARACTERS) }, ['tts']);
  expect(outcome?.result).toEqual({ spoken: true, file: 'audio_1' });
  expect(files.get('audio_1', 'audio')?.bytes).toHaveLength(SOUND);
});
