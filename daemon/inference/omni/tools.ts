import { z } from 'zod';
import { GatewayError } from '../../contract/errors.ts';
import { newRequestId } from '../../lib/request-id.ts';
import { truncate } from '../../lib/text/truncate.ts';
import { asList, asObject } from '../dialects/json.ts';
import { isLoaded, modelNamed } from '../dispatch/routing-view.ts';
import type { InternalPath } from '../internal.ts';
import { wholeBytes, wholeJson } from '../internal-read.ts';
import { wavForm } from '../realtime/wav-body.ts';
import { supportsVision } from '../supports-vision.ts';
import { imageModels } from './drawing.ts';
import { loadedOf, type OmniTool, refersTo, type ToolContext, type ToolDeps, tool } from './tool.ts';
import { targetSupportsVision } from './vision-support.ts';

/** Maximum time of one tool, its queue included, in milliseconds. */
const LIMIT_MS = 300_000;
const MAX_JSON_BYTES = 16 * 1024 * 1024;
/** Enough for the longest text with a slow voice: eight minutes of PCM16 at 24 kHz. */
const MAX_AUDIO_BYTES = 24 * 1024 * 1024;
const ALWAYS = () => ['memory'];
const text = (most: number) => z.string().min(1).max(most);

function send(deps: ToolDeps, path: InternalPath, body: Buffer, contentType?: string) {
  const { internal, tier, caller, signal } = deps;
  const type = contentType === undefined ? {} : { contentType };
  const call = { id: newRequestId(), path, tier, caller, signal, body, translated: true, limitMs: LIMIT_MS };
  return internal({ ...call, ...type });
}

const json = async (deps: ToolDeps, path: InternalPath, body: object) =>
  asObject(await wholeJson(await send(deps, path, Buffer.from(JSON.stringify(body))), MAX_JSON_BYTES)) ?? {};

const noFile = (id: string) =>
  new GatewayError('request.invalid', { param: 'file', message: `file: there is no ${truncate(id, 64)}` });

async function chat(deps: ToolDeps, model: string | undefined, content: unknown): Promise<string> {
  const messages = [{ role: 'user', content }];
  const reply = await json(deps, '/v1/chat/completions', { model, messages, max_tokens: 1024 });
  const message = asObject(asObject(asList(reply.choices)[0])?.message);
  return typeof message?.content === 'string' ? message.content : '';
}

/** Returns chat models other than the requested one. */
const otherModels = ({ view, requestedModel }: ToolContext): string[] =>
  view.slots
    .filter(
      (slot) =>
        slot.type === 'llm' && isLoaded(slot) && slot.model !== null && !refersTo(requestedModel, slot),
    )
    .map(({ name }) => name);

/**
 * For a model without vision: returns loaded chat models with vision, then those that healthy upstreams list.
 */
function visionModels({ view, requestedModel, attached }: ToolContext): string[] {
  if (!attached.image || targetSupportsVision(requestedModel, view)) return [];
  const slots = view.slots
    .filter((slot) => slot.type === 'llm' && isLoaded(slot) && slot.model !== null)
    .filter((slot) => supportsVision(modelNamed(view, slot.model ?? ''), slot));
  const others = view.upstreams
    .filter(({ isHealthy }) => isHealthy)
    .flatMap(({ models }) => models.filter(({ vision }) => vision).map(({ id }) => id));
  return [...slots.map(({ name }) => name), ...others];
}

const transcriptionModels = (world: ToolContext): string[] =>
  world.attached.audio || loadedOf(world, 'tts').length > 0 ? loadedOf(world, 'stt') : [];

/** Every tool of the gateway (docs/spec/contract.md#omni); none reaches an admin-only or hardened route. */
export const TOOLS: readonly OmniTool[] = [
  tool({
    name: 'generate_image',
    route: 'v1.images',
    description: 'Draws a picture and shows it to the user.',
    schema: z.strictObject({ prompt: text(4_000), size: text(16).optional() }),
    targets: imageModels,
    async run(deps, { prompt, size }, [model]) {
      const reply = await json(deps, '/v1/images/generations', { model, prompt, n: 1, size });
      const url = asObject(asList(reply.data)[0])?.url;
      return { result: { shown: true, url }, attachment: { kind: 'image', type: 'image/png', url } };
    },
  }),
  tool({
    name: 'text_to_speech',
    route: 'v1.speech',
    description: 'Speaks a text aloud to the user.',
    schema: z.strictObject({ text: text(4_096), voice: text(64).optional() }),
    targets: (world) => loadedOf(world, 'tts'),
    async run(deps, { text: input, voice }, [model]) {
      const body = Buffer.from(JSON.stringify({ model, input, voice, response_format: 'wav' }));
      const bytes = await wholeBytes(await send(deps, '/v1/audio/speech', body), MAX_AUDIO_BYTES);
      const id = deps.files.add('audio', 'wav', bytes)?.id;
      const attachment = { id, kind: 'audio', type: 'audio/wav', data: bytes.toString('base64') };
      return { result: { spoken: true, file: id }, attachment };
    },
  }),
  tool({
    name: 'transcribe_audio',
    route: 'v1.transcriptions',
    description: 'Writes down what is said in a recording of this conversation, named like audio_1.',
    schema: z.strictObject({ file: text(32) }),
    targets: transcriptionModels,
    async run(deps, { file }, [model = 'stt']) {
      const sound = deps.files.get(file, 'audio');
      if (sound === null) throw noFile(file);
      const { type, body } = wavForm({ model, response_format: 'json' }, sound.bytes);
      const reply = await wholeJson(await send(deps, '/v1/audio/transcriptions', body, type), MAX_JSON_BYTES);
      return { result: { text: asObject(reply)?.text ?? '' } };
    },
  }),
  tool({
    name: 'describe_image',
    route: 'v1.chat',
    description: 'Answers a question about a picture of this conversation, named like image_1.',
    schema: z.strictObject({ file: text(32), question: text(2_000).optional() }),
    targets: visionModels,
    async run(deps, { file, question }, [model]) {
      const image = deps.files.get(file, 'image');
      if (image === null) throw noFile(file);
      const url = `data:${image.type};base64,${image.bytes.toString('base64')}`;
      const parts = [
        { type: 'text', text: question ?? 'Describe this picture.' },
        { type: 'image_url', image_url: { url } },
      ];
      return { result: { text: await chat(deps, model, parts) } };
    },
  }),
  tool({
    name: 'embed_text',
    route: 'v1.embeddings',
    description:
      'Makes vectors of texts; the user gets them, and you learn how alike the texts are to the first.',
    schema: z.strictObject({ texts: z.array(text(8_192)).min(1).max(16) }),
    targets: (world) => loadedOf(world, 'embedding'),
    async run(deps, { texts }, [model]) {
      const body = { model, input: texts, encoding_format: 'float' };
      const reply = await json(deps, '/v1/embeddings', body);
      const vectors = asList(reply.data).map((each) => asList(asObject(each)?.embedding).map(Number));
      const alike = vectors.map((vector) => Math.round(cosine(vectors[0] ?? [], vector) * 1e4) / 1e4);
      const result = { dimensions: vectors[0]?.length ?? 0, alike };
      return { result, attachment: { kind: 'vectors', vectors } };
    },
  }),
  tool({
    name: 'rerank_documents',
    route: 'v1.rerank',
    description: 'Orders documents by how well they answer a query.',
    schema: z.strictObject({ query: text(4_096), documents: z.array(text(8_192)).min(1).max(64) }),
    targets: (world) => loadedOf(world, 'rerank'),
    async run(deps, { query, documents }, [model]) {
      const reply = await json(deps, '/v1/rerank', { model, query, documents });
      return { result: { results: reply.results } };
    },
  }),
  tool({
    name: 'search_memory',
    route: 'memory.search',
    description: 'Looks for what was remembered earlier.',
    schema: z.strictObject({ query: text(4_096), limit: z.number().int().min(1).max(20).optional() }),
    targets: ALWAYS,
    run: async ({ memory, tier, signal }, { query, limit }) => ({
      result: await memory.search(query, limit ?? 5, { tier, signal }),
    }),
  }),
  tool({
    name: 'remember',
    route: 'memory.add',
    description: 'Remembers a text for later conversations.',
    schema: z.strictObject({ text: text(16_384), tags: z.array(text(256)).max(32).optional() }),
    targets: ALWAYS,
    run: async ({ memory, tier }, { text: reply, tags }) => ({
      result: { remembered: memory.add(reply, tags ?? [], tier).id },
    }),
  }),
  tool({
    name: 'ask_model',
    route: 'v1.chat',
    description: 'Asks another model of this machine.',
    schema: z.strictObject({ prompt: text(16_384), model: text(256).optional() }),
    targets: otherModels,
    async run(deps, { prompt, model }, targets) {
      const known = model === undefined || targets.includes(model);
      if (!known) throw new GatewayError('model.not_found', { details: { models: targets.slice(0, 32) } });
      return { result: { answer: await chat(deps, model ?? targets[0], prompt) } };
    },
  }),
];

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b) || 1);
}
