import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { MODEL, slotConfig } from '../testing/controller-bench.ts';
import { currentOf } from '../testing/memory.ts';
import { type LaunchPlanInput, planLoad } from './launch-plan.ts';

const GIB = 1024 ** 3;
const model = { ...MODEL, sizeBytes: 2 * GIB, kvBytesPerToken: 4, embedding: 1 };
const input = (over: Partial<LaunchPlanInput> = {}): LaunchPlanInput => ({
  model,
  others: [],
  cpuThreads: 0,
  cores: 8,
  queueMax: 64,
  headroom: () => ({ pool: 'host', free: 64 * GIB }),
  measured: () => null,
  ...over,
});
const alone = planLoad(slotConfig(), input());

function refusal(act: () => unknown): GatewayError {
  try {
    act();
  } catch (cause) {
    if (cause instanceof GatewayError) return cause;
    throw cause;
  }
  throw new Error('was admitted');
}

describe('planLoad', () => {
  it('plans the launch with the whole thread budget for the only slot', () => {
    expect(alone.launch).toMatchObject({
      modelId: 'tiny',
      threads: 7,
      context: 512,
      how: { settings: { queueLimit: 64 } },
    });
    expect(alone).toMatchObject({
      weightBytes: 2 * GIB,
      headroom: { pool: 'host' },
      need: { source: 'estimated' },
    });
    expect(alone.need.total).toBeGreaterThan(2 * GIB);
  });

  it('counts the projector that is loaded with a model among its weights', () => {
    const config = slotConfig('eyes', 'engine = "llama-server"');
    const withProjector = { ...model, projectorPath: '/m/mmproj.gguf', projectorBytes: GIB };
    expect(planLoad(config, input({ model: withProjector })).need.weights).toBe(3 * GIB);
    expect(planLoad(config, input()).need.weights).toBe(2 * GIB);
  });

  it('gives the demonstration model one thread', () => {
    expect(planLoad(slotConfig(), input({ model: { ...model, demo: true } })).launch.threads).toBe(1);
  });

  it('shares threads with slots on the CPU, not with those on a GPU', () => {
    const four = { ...alone.launch, threads: 4 };
    const threadsOf = (device: string | null) =>
      planLoad(slotConfig('utility'), input({ others: [currentOf(device, { launch: four })] })).launch
        .threads;
    expect([threadsOf('cpu'), threadsOf(null), threadsOf('vulkan')]).toEqual([3, 3, 7]);
  });

  it('an attached server uses no memory and no threads of this machine', () => {
    const attached = slotConfig('far', 'engine = "custom"\nrunner = "attach"\nurl = "http://h:1"');
    const { launch, need } = planLoad(attached, input({ others: [currentOf('cpu')] }));
    expect([need.total, launch.threads, launch.device]).toEqual([0, 0, 'remote']);
    const runsFourThreads = { launch: { ...launch, threads: 4 } };
    const others = [currentOf('remote', runsFourThreads), currentOf(null, runsFourThreads)];
    expect(planLoad(slotConfig('utility'), input({ others })).launch.threads).toBe(7);
  });

  it('reads the headroom of the configured device for the needed bytes', () => {
    const calls: [string, number][] = [];
    const headroom = (device: string, needed: number) => {
      calls.push([device, needed]);
      return { pool: 'card', free: 64 * GIB };
    };
    expect(planLoad(slotConfig('agent', 'device = "cuda:1"'), input({ headroom })).headroom.pool).toBe(
      'card',
    );
    expect(calls).toEqual([['cuda:1', alone.need.total]]);
  });

  it.each([
    ['tts', 'engine = "speech"\ndevice = "auto"', 'cpu'],
    ['tts', 'engine = "espeak"', 'cpu'],
    ['llm', 'engine = "flm"\nmodel = "llama3.2:1b"', 'cpu'],
    ['tts', 'engine = "kokoro"\nrunner = "container"', 'cpu'],
    ['llm', 'engine = "llama-server"\nrunner = "container"', 'cpu'],
    ['llm', 'engine = "llama-server"\nrunner = "container"\ndevice = "cuda:1"', 'cuda:1'],
    ['llm', 'engine = "llama-server"', 'auto'],
  ] as const)('%s with %j uses the memory of the device that it runs on: %s', (type, text, device) => {
    const calls: string[] = [];
    const headroom = (where: string) => {
      calls.push(where);
      return { pool: 'host', free: 64 * GIB };
    };
    const config = slotConfig('one', `type = "${type}"\n${text}`);
    planLoad(config, input({ model: { ...model, type }, headroom }));
    expect(calls).toEqual([device]);
  });

  it('key memory of the slot file replaces estimate and measurement, also for the choice of the card', () => {
    const calls: number[] = [];
    const headroom = (_: string, needed: number) => {
      calls.push(needed);
      return { pool: 'card', free: 64 * GIB };
    };
    const { need } = planLoad(
      slotConfig('agent', 'memory = "7 GiB"'),
      input({ headroom, measured: () => 77 }),
    );
    expect(need).toMatchObject({ total: 7 * GIB, source: 'file', weights: 2 * GIB });
    expect(calls).toEqual([7 * GIB]);
  });

  it('a ComfyUI that runs already takes what its slot file says, on the device of the slot', () => {
    const text = 'type = "image"\nengine = "comfyui"\nurl = "http://127.0.0.1:8188"\ndevice = "cuda:1"';
    const devices: string[] = [];
    const headroom = (device: string) => {
      devices.push(device);
      return { pool: 'card', free: 64 * GIB };
    };
    const planned = (more: string) =>
      planLoad(
        slotConfig('img', `${text}\n${more}`),
        input({ model: { ...model, type: 'image' }, headroom }),
      );
    expect(planned('').need.total).toBe(0);
    expect(planned('memory = "8 GiB"').need).toMatchObject({ total: 8 * GIB, source: 'file' });
    expect(devices).toEqual(['cuda:1', 'cuda:1']);
  });

  it('a ComfyUI that released its memory needs it again', () => {
    const text = 'type = "image"\nengine = "comfyui"\nurl = "http://127.0.0.1:8188"';
    const images = { ...model, type: 'image' as const };
    const { need } = planLoad(slotConfig('img', text), input({ model: images, releasedBytes: 4 * GIB }));
    expect(need).toMatchObject({ total: 4 * GIB, source: 'measured' });
    const far = slotConfig('img', text.replace('127.0.0.1', '10.0.0.9'));
    expect(planLoad(far, input({ model: images, releasedBytes: 4 * GIB })).need.total).toBe(0);
  });

  it('vLLM takes its share of the card, and memory of the host too', () => {
    const vllm = slotConfig('big', 'engine = "vllm"\nmodel = "/m/folder"');
    const card = input({ headroom: () => ({ pool: 'card', free: 20 * GIB, total: 24 * GIB }) });
    const plan = planLoad(vllm, card);
    expect(plan.need.total).toBe(Math.ceil(0.92 * 24 * GIB));
    expect(plan.need.host).toBe(4 * GIB);
    expect(plan.deferred).toEqual({ mappedBytes: 0, deferredBytes: plan.need.window + plan.need.compute });
    const onHost = planLoad(vllm, input());
    expect(onHost.need).toMatchObject({ weights: 2 * GIB, window: 4 * GIB, host: 0 });
    expect(alone.deferred).toEqual({ mappedBytes: 2 * GIB, deferredBytes: 2 * GIB });
  });

  it('a measurement in that pool replaces the estimate', () => {
    const measured: LaunchPlanInput['measured'] = (launch, pool, size) =>
      launch.modelId === 'tiny' && pool === 'host' && size === 2 * GIB ? 77 : null;
    expect(planLoad(slotConfig(), input({ measured })).need).toMatchObject({
      total: 77,
      source: 'measured',
    });
  });

  it.each([
    ['', null, 'The slot has no model.'],
    [
      'model = "missing"',
      null,
      'The model missing of the slot file was not found. svcctl models lists the models.',
    ],
    [
      'model = "/srv/models/missing.gguf"',
      null,
      'The model missing.gguf of the slot file was not found. Register the file with svcctl models register, or add its folder to models.folders.',
    ],
    [
      '',
      { ...model, type: 'embedding' as const },
      'tiny is an embedding model; the slot serves a chat model.',
    ],
  ])('%j: a slot without a fitting model is refused without a retry', (text, reasonIn, reason) => {
    const error = refusal(() => planLoad(slotConfig('agent', text), input({ model: reasonIn })));
    expect([error.code, error.options.details?.reason]).toEqual(['slot.failed', reason]);
    expect(error.message).toBe(`Slot agent cannot be loaded: ${reason}`);
    expect(error.headers()).toEqual({ 'x-should-retry': 'false' });
  });
});
