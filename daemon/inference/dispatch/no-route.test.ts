import { describe, expect, it } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { NONE_REPORTED, resolveImageModel } from '../images/resolve-model.ts';
import { rewriteModelRef } from '../rewrite/deviations.ts';
import { registeredModel, routingView, upstreamConfigOf } from '../testing/builders.ts';
import { ConfiguredNames } from './configured-names.ts';
import { dispatch } from './dispatch.ts';
import { modelOmitted } from './model-omitted.ts';
import { plainModelRef } from './model-ref.ts';
import { NO_IMAGE_ENGINE, noRoute } from './no-route.ts';
import { pathRow } from './paths.ts';
import type { RoutingView } from './routing-view.ts';

const view = routingView({ models: [registeredModel({ id: 'qwen3-8b' })] });

it.each([
  ['qwen3-8', 'No slot or upstream serves the model "qwen3-8". Did you mean qwen3-8b?'],
  ['gpt-4o', 'No slot or upstream serves the model "gpt-4o". GET /v1/models lists the models.'],
])('the message for %s has the next step', (name, message) => {
  expect(noRoute(name, view).message).toBe(message);
});

it('a model that only an engine of a slot file serves is explained, and not suggested', () => {
  const weights = registeredModel({ id: 'minilm-hf', format: 'safetensors' });
  const { message, options } = noRoute('minilm-hf', routingView({ models: [weights] }));
  expect(message).toMatch(/safetensors format, which only vLLM serves here.*engine = "vllm"/);
  expect(options.details).toEqual({ suggestions: [] });
});

it('a request without a model gets the reason', () => {
  expect(noRoute(null, view, 'No chat slot exists.').message).toBe('No chat slot exists.');
});

/** Returns the message of the error that a request gets. */
function messageOf(path: string, model: string | null, on: RoutingView): string {
  const { type } = pathRow(path);
  try {
    const modelRef = rewriteModelRef(modelOmitted(plainModelRef(model), path, on), on, type);
    void dispatch({ path, type, modelRef }, on, () => Promise.resolve(on));
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it is served');
}
const CHAT = '/v1/chat/completions';
const IMAGES = '/v1/images/generations';

describe('a disabled slot', () => {
  const off = (name: string, type: 'llm' | 'embedding' | 'rerank' | 'tts' | 'image', model: string) =>
    slotRecord({ name, type, model, enabled: false, state: 'offline' });
  const on = routingView({
    slots: [slotRecord({ name: 'other', model: 'gemma' })],
    disabledSlots: [
      off('writer', 'llm', 'qwen3-8b'),
      off('agent', 'llm', 'qwen3-8b'),
      off('embed', 'embedding', 'minilm'),
      off('rerank', 'rerank', 'bge'),
      off('tts', 'tts', 'piper'),
      off('img', 'image', 'sd15'),
    ],
    models: [registeredModel({ id: 'qwen3-8b', binding: 'slot:writer' })],
    names: new ConfiguredNames({ aliases: { 'gpt-4o': 'writer' }, presets: {} }),
  });

  it.each<[path: string, model: string | null, slot: string]>([
    [CHAT, 'writer', 'writer'],
    [CHAT, 'svc/writer', 'writer'],
    [CHAT, 'qwen3-8b', 'writer'],
    [CHAT, 'svc/agent', 'agent'],
    [CHAT, 'agent-hermes', 'agent'],
    [CHAT, null, 'agent'],
    [CHAT, 'gpt-4o', 'writer'],
    ['/v1/messages', 'writer', 'writer'],
    ['/v1/responses', null, 'agent'],
    ['/v1/embeddings', 'text-embedding-3-small', 'embed'],
    ['/v1/embeddings', null, 'embed'],
    ['/v1/rerank', 'bge', 'rerank'],
    ['/v1/audio/speech', 'tts-1', 'tts'],
    [IMAGES, 'img', 'img'],
  ])('of %s for %j is named with the key', (path, model, slot) => {
    expect(messageOf(path, model, on)).toMatch(
      new RegExp(`[Ss]lot ${slot} is disabled\\. Set enabled = true in its slot file to use it\\.$`),
    );
  });

  it.each([
    ['/v1/audio/speech', 'scribee', 'tts'],
    ['/v1/embeddings', 'nomic', 'embed'],
    ['/v1/rerank', 'jina', 'rerank'],
  ])('of the path %s is added to the unknown name %s', (path, model, slot) => {
    expect(messageOf(path, model, on)).toMatch(
      new RegExp(`^No slot or upstream serves the model "${model}"\\. .*\\. Slot ${slot} is disabled\\.`),
    );
  });

  it('is not the reason for other names', () => {
    expect(messageOf(CHAT, 'mistral', on)).toMatch(/^No slot or upstream serves the model "mistral"/);
    expect(messageOf(CHAT, 'svc/nothing', on)).not.toContain('disabled');
  });

  it('is not suggested', () => {
    expect(noRoute('write', on).options.details).not.toMatchObject({
      suggestions: expect.arrayContaining(['writer']),
    });
  });
});

/** Returns the message of the error that an image request gets. */
function imageMessageOf(model: string, on: RoutingView): string {
  try {
    return messageOf(IMAGES, resolveImageModel(model, on, NONE_REPORTED).model, on);
  } catch (error) {
    return (error as Error).message;
  }
}

describe('nothing that draws', () => {
  const upstreams = [upstreamConfigOf({ name: 'far', models: ['gpt-4o'] })];
  const names = [
    'dall-e-3',
    'gpt-image-1',
    'sdxl',
    'flux',
    'img',
    'svc/img',
    'mine.safetensors',
    'sd15:latest',
  ];

  it.each(names)('the message for the image model %s has the next step', (model) => {
    expect(imageMessageOf(model, routingView({ upstreams }))).toBe(NO_IMAGE_ENGINE);
  });

  it.each(names)('the message for the image model %s names the disabled slot', (model) => {
    const off = slotRecord({ name: 'drawing', type: 'image', enabled: false, state: 'offline' });
    expect(imageMessageOf(model, routingView({ upstreams, disabledSlots: [off] }))).toBe(
      'Slot drawing is disabled. Set enabled = true in its slot file to use it.',
    );
  });
});
