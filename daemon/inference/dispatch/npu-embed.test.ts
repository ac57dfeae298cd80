import { describe, expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { rewriteModelRef } from '../rewrite/deviations.ts';
import { routingView, upstreamConfigOf } from '../testing/builders.ts';
import { resolve } from './dispatch.ts';
import { explain } from './explain.ts';
import { modelOmitted } from './model-omitted.ts';
import { plainModelRef } from './model-ref.ts';
import { pathRow } from './paths.ts';

const TAG = 'embed-gemma:300m';
const npu = slotRecord({ name: 'embed', type: 'embedding', engine: 'flm', model: TAG, state: 'offline' });
const sameModel = slotRecord({ name: 'twin', type: 'embedding', engine: 'llama-server', model: TAG });
const chat = slotRecord({ name: 'npu', engine: 'flm', model: 'llama3.2:1b' });
const slots = [chat, sameModel, npu];
const upstreams = [upstreamConfigOf({ name: 'far', models: [TAG] })];

function targetOf(model: string | null, path = '/v1/embeddings', all = slots) {
  const now = routingView({ slots: all, upstreams });
  const { type } = pathRow(path);
  const address = rewriteModelRef(modelOmitted(plainModelRef(model), path, now), now, type);
  const { step, target } = resolve({ path, type, modelRef: address }, now);
  return [step, target?.kind === 'slot' ? target.slot : target?.upstream];
}

describe('a request for the NPU embed slot skips the dispatcher', () => {
  test.each([null, 'embed', 'svc/embed', TAG, 'embed-gemma-300m-flm', 'EMBED-GEMMA:300M-FLM'])(
    '%s',
    (model) => {
      expect(targetOf(model)).toEqual(['npu-embed', 'embed']);
    },
  );
});

test('does not skip another slot that is named', () => {
  expect(targetOf('svc/twin')).toEqual(['loaded-slot', 'twin']);
});

test('an unknown name is left to the dispatcher', () => {
  expect(targetOf('text-embedding-3-small')).toEqual(['capability-path', 'embed']);
});

test('the dispatcher decides for a slot in ERROR and for chat', () => {
  const broken = { ...npu, state: 'error' as const };
  expect(targetOf(TAG, '/v1/embeddings', [chat, sameModel, broken])).toEqual(['loaded-slot', 'twin']);
  expect(targetOf('llama3.2:1b', '/v1/chat/completions')).toEqual(['loaded-slot', 'npu']);
});

test('explain lists it first', () => {
  const view = explain({ path: '/v1/embeddings', model: TAG }, routingView({ slots }), {
    previewSlot: () => ({ load: null, refusal: null }),
    queueMax: 64,
    fallbacks: { map: {}, isEnabled: false },
    refusalOf: () => null,
  });
  expect(view.steps.slice(0, 2)).toMatchObject([
    { step: 'npu-embed', outcome: 'matched' },
    { step: 'loaded-slot', outcome: 'skipped' },
  ]);
  expect(view.slot).toBe('embed');
});
