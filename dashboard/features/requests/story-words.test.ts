import { expect, it } from 'vitest';
import { beforeWords, firstThing, placeWords, ruleWords, waitRows } from './story-words.ts';

it.each([
  ['/v1/audio/speech', 'sound'],
  ['/v1/chat/completions', 'token'],
])('an answer of %s begins with a %s', (route, thing) => expect(firstThing(route)).toBe(thing));

it.each([
  [{ rule: null, lane: null }, 'm', null],
  [{ rule: 'slot-alias', lane: 'agent' }, 'agent', '“agent” is the name of a slot and means slot agent.'],
  [{ rule: 'npu-suffix', lane: null }, 'm-flm', '“m-flm” means a model of the NPU.'],
  [{ rule: 'model-omitted', lane: 'embed' }, null, 'No model was named, so slot embed was meant.'],
])('ruleWords(%j, %s)', (story, asked, words) => expect(ruleWords(story, asked)).toBe(words));

it.each([
  [{ step: null, slot: null, upstream: null }, 'No step took it.'],
  [
    { step: 'loaded-slot', slot: 'agent', upstream: null },
    'It was taken by the step “A loaded slot” and given to slot agent.',
  ],
  [
    { step: 'upstream-cached', slot: null, upstream: 'cloud' },
    'It was taken by the step “An upstream, by its known list” and sent to upstream cloud.',
  ],
])('placeWords(%j)', (request, words) => expect(placeWords(request)).toBe(words));

it('who was chosen before is named with the reason of the catalogue', () => {
  expect(beforeWords({ slot: 'agent', upstream: null, error: 'slot.no_memory' })).toMatch(
    /^Slot agent was chosen first: .+ \(slot\.no_memory\)$/,
  );
  expect(beforeWords({ slot: null, upstream: 'cloud', error: null })).toBe(
    'Upstream cloud was chosen first.',
  );
});

it('only waits that took time are shown', () => {
  const values = (waits: Parameters<typeof waitRows>[0]) =>
    waitRows(waits).map(([, value]) => value !== null);
  expect(values(null)).toEqual([false, false, false]);
  expect(values({ memory_ms: 0, load_ms: 900, queue_ms: 0 })).toEqual([false, true, false]);
});
