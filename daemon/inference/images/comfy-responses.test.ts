import { expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { curatedModel, type ImageModel } from '../../models/images/curated.ts';
import { comfyEvent } from './comfy-events.ts';
import { choicesOf, historyOutcome, queuePositionOf } from './comfy-history.ts';
import { graphRefusal } from './comfy-refusal.ts';
import { DrawingFailed } from './engine-request.ts';

const image = { filename: 'x_00001_.png', subfolder: '', type: 'temp' };
const entry = (status: object, images: unknown = [image]) => ({ j: { status, outputs: { 9: { images } } } });
const failed = (...messages: unknown[]) => entry({ status_str: 'error', completed: false, messages });
const thrown = (act: () => unknown): GatewayError => {
  try {
    act();
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('it did not fail');
};

test('history: not finished, images, and never more than requested', () => {
  expect(historyOutcome({}, 'j', 1)).toBeNull();
  expect(historyOutcome(entry({ status_str: 'success' }), 'j', 1)).toEqual([image]);
  expect(historyOutcome(entry({ status_str: 'success' }, [image, image]), 'j', 1)).toHaveLength(1);
});

test.each([
  [failed(['execution_error', { exception_type: 'torch.cuda.OutOfMemoryError' }]), 507, 'out_of_memory'],
  [
    failed(['execution_error', { exception_message: '/home/x', exception_type: 'KeyError' }]),
    502,
    'execution_error',
  ],
  [failed(['execution_start', {}], ['execution_interrupted', {}]), 502, 'interrupted'],
  [failed(), 502, 'execution_error'],
  [entry({ status_str: 'success' }, []), 502, 'bad_answer'],
  [entry({ status_str: 'success' }, [{ filename: 7 }]), 502, 'bad_answer'],
  [{ j: 'nonsense' }, 502, 'bad_answer'],
])('history %# is %i %s', (answer, status, reason) => {
  const error = thrown(() => historyOutcome(answer, 'j', 1));
  expect([error.status, error.options.details?.reason]).toEqual([status, reason]);
  expect(error.message).not.toContain('/home');
});

test.each([
  [
    { node_id: '4', node_type: 'CheckpointLoaderSimple', exception_type: 'safetensors_rust.SafetensorError' },
    'The image engine failed while it was drawing in node CheckpointLoaderSimple: SafetensorError.',
    { node: 'CheckpointLoaderSimple', node_id: '4', exception: 'SafetensorError' },
  ],
  [
    { node_id: '7:2', node_type: 'Impact Pack (v2)', exception_type: 'KeyError' },
    'The image engine failed while it was drawing in node Impact Pack (v2): KeyError.',
    { node: 'Impact Pack (v2)', node_id: '7:2', exception: 'KeyError' },
  ],
  [
    { node_id: '/home/x', node_type: '/home/x', exception_type: '/home/x!' },
    'The image engine failed while it was drawing.',
    {},
  ],
  [
    { node_type: 'KSampler', exception_type: 'torch.OutOfMemoryError' },
    'The image engine ran out of memory. Request a smaller size or fewer images.',
    { reason: 'out_of_memory', node: 'KSampler', exception: 'OutOfMemoryError' },
  ],
])('%j names node and exception', (report, message, details) => {
  const text = 'Error while deserializing header: /home/x';
  const answer = failed(['execution_error', { ...report, exception_message: text }]);
  const error = thrown(() => historyOutcome(answer, 'j', 1));
  expect(error).toBeInstanceOf(DrawingFailed);
  expect((error as DrawingFailed).engineText).toBe(text);
  expect([error.message, error.options.details]).toEqual([
    message,
    { reason: 'execution_error', ...details },
  ]);
});

test('the queue position', () => {
  const queue = {
    queue_running: [[1, 'a', {}]],
    queue_pending: [
      [3, 'c', {}],
      [2, 'b', {}],
    ],
  };
  expect(['a', 'b', 'c', 'd'].map((id) => queuePositionOf(queue, id))).toEqual([0, 1, 2, null]);
  expect(queuePositionOf({ queue_running: [], queue_pending: [[1, 'a']] }, 'a')).toBe(1);
  expect(queuePositionOf('nonsense', 'a')).toBeNull();
});

test('choices of an input in older and newer versions', () => {
  const old = { L: { input: { required: { n: [['a', 'b'], {}] } } } };
  const young = { L: { input: { required: { n: ['COMBO', { options: ['a'] }] } } } };
  expect(choicesOf(old, 'L', 'n')).toEqual(['a', 'b']);
  expect(choicesOf(young, 'L', 'n')).toEqual(['a']);
  expect(choicesOf({}, 'L', 'n')).toBeNull();
});

const sdxl = curatedModel('sdxl') as ImageModel;
const refused = (type: string, input_name: string) => ({
  error: { type: 'prompt_outputs_failed_validation', message: 'x', details: "'/home/x' not in [...]" },
  node_errors: { 4: { errors: [{ type, details: '/home/x', extra_info: { input_name } }] } },
});

test.each([
  [200, { prompt_id: 'j', node_errors: {} }, null],
  [200, refused('value_not_in_list', 'ckpt_name'), 'not_installed'],
  [400, refused('value_not_in_list', 'vae_name'), 'not_installed'],
  [400, refused('value_not_in_list', 'sampler_name'), 'invalid_graph'],
  [
    400,
    { error: { type: 'invalid_prompt', message: 'node X does not exist' }, node_errors: [] },
    'invalid_graph',
  ],
  [400, { error: 'no prompt', node_errors: [] }, 'invalid_graph'],
  [500, undefined, 'unexpected_status'],
])('the answer %i %j is %s', (status, answer, reason) => {
  const error = graphRefusal(status, answer, sdxl);
  expect(error?.options.details?.reason ?? null).toBe(reason);
  expect(JSON.stringify(error?.envelope('openai') ?? '')).not.toContain('/home');
});

test('the names of files and nodes come from the workflow, and only where they are plain', () => {
  const fileFault = (received_value: unknown) => ({
    node_errors: {
      1: { errors: [{ type: 'value_not_in_list', extra_info: { input_name: 'ckpt_name', received_value } }] },
    },
  });
  const details = (answer: unknown, model = sdxl) => graphRefusal(400, answer, model)?.options.details;
  expect(details(fileFault('a.safetensors'))).toEqual({
    ...{ reason: 'not_installed', files: ['ckpt_name: a.safetensors'] },
  });
  expect(details(fileFault(3))).toEqual({ reason: 'not_installed', files: sdxl.checkpoints });
  const flux2 = curatedModel('flux2-dev') as ImageModel;
  expect(details(fileFault(undefined), flux2)).toMatchObject({
    files: flux2.diffusionModels,
    or_parts: [flux2.diffusionModels[0], 'mistral_3_small_flux2_bf16.safetensors', 'flux2-vae.safetensors'],
  });
  const missing = (class_type: unknown) => ({
    error: { type: 'missing_node_type', extra_info: { class_type } },
  });
  expect(graphRefusal(400, missing('UnetLoaderGGUF'), sdxl)).toMatchObject({
    message: expect.stringMatching(/^ComfyUI has no node UnetLoaderGGUF\./),
    options: { details: { reason: 'missing_node', node: 'UnetLoaderGGUF' } },
  });
  for (const node of ['<script>', 3, undefined])
    expect(details(missing(node))).toEqual({ reason: 'invalid_graph', faults: ['missing_node_type'] });
});

const message = (type: string, data: object) => JSON.stringify({ type, data: { prompt_id: 'j', ...data } });

test.each([
  [message('progress', { node: '3', value: 5, max: 20 }), { is: 'step', share: 0.25 }],
  [message('progress', { node: '3', value: 30, max: 20 }), { is: 'step', share: 1 }],
  [message('progress', { node: '8', value: 5, max: 20 }), null],
  [message('progress', { node: '3', value: 5, max: 0 }), null],
  [message('execution_start', {}), { is: 'started' }],
  [message('executing', { node: '3' }), null],
  [message('executing', { node: null }), { is: 'over' }],
  [message('execution_success', {}), { is: 'over' }],
  [message('execution_error', {}), { is: 'over' }],
  [message('execution_success', { prompt_id: 'theirs' }), null],
  [JSON.stringify({ type: 'status', data: {} }), null],
  ['nonsense', null],
  ['null', null],
])('the event %s is %j', (text, event) => {
  expect(comfyEvent(text, 'j')).toEqual(event);
});
