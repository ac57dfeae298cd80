import { expect, it } from 'vitest';
import { beforeWords, firstOutput, placeWords, ruleWords, waitRows } from './routing-words.ts';

it.each([
  ['/v1/audio/speech', 'audio'],
  ['/v1/chat/completions', 'token'],
])('a response of %s starts with a %s', (route, thing) => expect(firstOutput(route)).toBe(thing));

it.each([
  [{ rule: null, lane: null }, 'm', null],
  [{ rule: 'slot-alias', lane: 'agent' }, 'agent', '“agent” is the name of a slot and selects slot agent.'],
  [{ rule: 'npu-suffix', lane: null }, 'm-flm', '“m-flm” selects a model on the NPU.'],
  [{ rule: 'model-omitted', lane: 'embed' }, null, 'No model was given, so slot embed is used.'],
])('ruleWords(%j, %s)', (story, requested, words) => expect(ruleWords(story, requested)).toBe(words));

it.each([
  [{ step: null, slot: null, upstream: null }, 'Not routed: no step matched.'],
  [{ step: 'loaded-slot', slot: 'agent', upstream: null }, 'Routed to slot agent (step: loaded slots).'],
  [
    { step: 'upstream-cached', slot: null, upstream: 'cloud' },
    'Routed to upstream cloud (step: upstreams (cached list)).',
  ],
])('placeWords(%j)', (request, words) => expect(placeWords(request)).toBe(words));

it('names the earlier target with the message of the catalogue', () => {
  expect(beforeWords({ slot: 'agent', upstream: null, error: 'slot.no_memory' })).toMatch(
    /^Slot agent was tried first: .+ \(slot\.no_memory\)$/,
  );
  expect(beforeWords({ slot: null, upstream: 'cloud', error: null })).toBe('Upstream cloud was tried first.');
});

it('shows only waits that took time', () => {
  const values = (waits: Parameters<typeof waitRows>[0]) =>
    waitRows(waits).map(([, value]) => value !== null);
  expect(values(null)).toEqual([false, false, false]);
  expect(values({ memory_ms: 0, load_ms: 900, queue_ms: 0 })).toEqual([false, true, false]);
});
