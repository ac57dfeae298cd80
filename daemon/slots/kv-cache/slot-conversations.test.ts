import { describe, expect, it } from 'vitest';
import { configOf, planOf } from '../testing/plans.ts';
import { type SavedStates, slotConversations } from './slot-conversations.ts';

const STATES: SavedStates = { from: () => 'disk', problem: () => null, unsupported: () => null };
const SERVER = 'engine = "llama-server"\n';

const view = (file: string, states: Partial<SavedStates> = {}) =>
  slotConversations(configOf(file), { launch: null, modelId: 'm' }, { ...STATES, ...states });

describe('the conversations of a slot', () => {
  it.each(['', SERVER])('are saved with %j', (file) => {
    expect(view(file)).toEqual({ from: 'disk', reason: null });
  });

  it.each<[string, string, Partial<SavedStates>, RegExp]>([
    ['the setting is off', '', { problem: () => 'kv_cache.persist is off.' }, /persist is off/],
    ['the build cannot', SERVER, { unsupported: () => 'This build has none.' }, /This build has none/],
    ['a container', `${SERVER}runner = "container"\n`, {}, /as a program/],
    ['an attached server', `${SERVER}runner = "attach"\nurl = "http://127.0.0.1:1"\n`, {}, /as a program/],
    ['an own folder', `${SERVER}extra_args = ["--slot-save-path", "/own"]\n`, {}, /names the folder/],
    ['an own variable', `${SERVER}env = { LLAMA_ARG_SLOT_SAVE_PATH = "/own" }\n`, {}, /names the folder/],
  ])('are not saved, and the reason is given: %s', (_, file, states, reason) => {
    expect(view(file, states)).toEqual({ from: null, reason: expect.stringMatching(reason) });
  });

  it('of a running llama-server that reads images are not saved', () => {
    const launch = planOf(SERVER, { projectorPath: '/m/mmproj.gguf', projectorBytes: 5 });
    expect(slotConversations(configOf(SERVER), { launch, modelId: 'm' }, STATES)?.reason).toMatch(
      /reads images/,
    );
  });

  it('of another slot with the same model do not depend on what the build of this one cannot', () => {
    const unsupported = (slot: string, model: string) => (slot === 'old' && model === 'm' ? 'no' : null);
    const reasons = ['old', 'new'].map((name) => {
      const config = { ...configOf(SERVER), name };
      return slotConversations(config, { launch: null, modelId: 'm' }, { ...STATES, unsupported })?.reason;
    });
    expect(reasons).toEqual(['no', null]);
  });

  it('of the embedded engine do not depend on what a llama-server cannot', () => {
    expect(view('', { unsupported: () => 'no' })).toEqual({ from: 'disk', reason: null });
  });

  it('do not exist for other types', () => {
    expect(view('type = "embedding"\n')).toBeUndefined();
  });
});
