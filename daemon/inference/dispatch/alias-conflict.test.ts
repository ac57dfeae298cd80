import { expect, test } from 'vitest';
import { registeredModel, routingView, upstreamConfigOf } from '../testing/builders.ts';
import { explain } from './explain.ts';

const PATH = '/v1/audio/transcriptions';
const far = upstreamConfigOf({ name: 'far', models: ['whisper:small'] });
const on = routingView({
  models: [registeredModel({ id: 'whisper:small', type: 'stt', format: 'flm' })],
  upstreams: [far],
});
const explained = (path: string, model: string) =>
  explain({ path, model }, on, {
    previewSlot: () => ({ load: null, refusal: null }),
    queueMax: 64,
    fallbacks: { map: {}, isEnabled: false },
    refusalOf: () => null,
  });

test('a recording is dispatched to an upstream only by the name in its form', () => {
  expect(explained(PATH, 'whisper:small')).toMatchObject({ upstream: 'far', error: null });
  expect(explained(PATH, 'whisper-small-flm')).toMatchObject({
    upstream: 'far',
    error: { code: 'dispatch.capability_mismatch' },
  });
  expect(explained('/v1/chat/completions', 'whisper-small-flm')).toMatchObject({
    upstream: 'far',
    error: null,
  });
});
