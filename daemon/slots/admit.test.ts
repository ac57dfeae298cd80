import { describe, expect, it } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import { KEEP_FREE_BYTES } from './admission.ts';
import { type AdmitPicture, admit } from './admit.ts';
import type { Current } from './owner-parts.ts';
import { MODEL, slotConfig } from './testing/owner-bench.ts';
import { ScriptedEngine } from './testing/scripted-runner.ts';

const GIB = 1024 ** 3;
const model = { ...MODEL, sizeBytes: 2 * GIB, kvBytesPerToken: 4, embedding: 1 };
const picture = (over: Partial<AdmitPicture> = {}): AdmitPicture => ({
  model,
  others: [],
  cpuThreads: 0,
  cores: 8,
  queueMax: 64,
  memory: () => 64 * GIB,
  anonymousBytes: () => 0,
  ...over,
});
const alone = admit(slotConfig(), picture());

function running(device: string | null, over: Partial<Current> = {}): Current {
  const loaded = { origin: '', headers: {}, device: device ?? '', context: 1, parallel: 1, threads: 4 };
  return {
    ...alone,
    running: { ...new ScriptedEngine(alone.launch), pid: 7 } as unknown as ScriptedEngine,
    control: new AbortController(),
    loaded: device === null ? null : loaded,
    readySince: null,
    ...over,
  };
}

function refusal(act: () => unknown): GatewayError {
  try {
    act();
  } catch (cause) {
    if (cause instanceof GatewayError) return cause;
    throw cause;
  }
  throw new Error('was admitted');
}
const reserved = (other: Current, anonymous = 0): number => {
  const given = picture({ others: [other], memory: () => 0, anonymousBytes: () => anonymous });
  return refusal(() => admit(slotConfig(), given)).options.details?.reserved as number;
};

describe('admit', () => {
  it('plans the launch with the whole thread budget for the only slot', () => {
    expect(alone.launch).toMatchObject({
      modelId: 'tiny',
      threads: 7,
      context: 512,
      how: { settings: { queueLimit: 64 } },
    });
    expect(alone.weightBytes).toBe(2 * GIB);
    expect(alone.neededBytes).toBeGreaterThan(2 * GIB);
  });

  it('gives the demonstration model one thread', () => {
    expect(admit(slotConfig(), picture({ model: { ...model, demo: true } })).launch.threads).toBe(1);
  });

  it('shares threads with slots on the CPU, not with those on a GPU', () => {
    const four = { launch: { ...alone.launch, threads: 4 } };
    const beside = (device: string | null) =>
      admit(slotConfig('utility'), picture({ others: [running(device, four)] })).launch.threads;
    expect([beside('cpu'), beside(null), beside('vulkan')]).toEqual([3, 3, 7]);
  });

  it('an attached server costs this machine nothing, neither memory nor threads', () => {
    const attached = slotConfig('far', 'engine = "custom"\nrunner = "attach"\nurl = "http://h:1"');
    const full = picture({ memory: () => 0, others: [running('cpu')] });
    const { launch, neededBytes } = admit(attached, full);
    expect([neededBytes, launch.threads, launch.device]).toEqual([0, 0, 'remote']);
    const beside = { launch: { ...launch, threads: 4 } };
    const others = [running('remote', beside), running(null, beside)];
    expect(admit(slotConfig('utility'), picture({ others })).launch.threads).toBe(7);
  });

  it('refuses what does not fit with 507 and the sum', () => {
    const exact = alone.neededBytes + KEEP_FREE_BYTES;
    expect(admit(slotConfig(), picture({ memory: () => exact })).neededBytes).toBe(alone.neededBytes);
    const error = refusal(() => admit(slotConfig(), picture({ memory: () => exact - 1 })));
    expect([error.status, error.code]).toEqual([507, 'slot.no_memory']);
    expect(error.options.details).toMatchObject({ slot: 'agent', needed: alone.neededBytes, short: 1 });
    expect(error.message).toMatch(/^The model needs \d+ MiB; \d+ MiB are free for it now\.$/);
  });

  it('asks for the memory of the device that was chosen', () => {
    const asked: string[] = [];
    const memory = (device: string) => {
      asked.push(device);
      return 64 * GIB;
    };
    admit(slotConfig('agent', 'device = "cuda:1"'), picture({ memory }));
    expect(asked).toEqual(['cuda']);
  });

  it('sets aside what a load under way has not taken yet', () => {
    expect(reserved(running(null))).toBe(alone.neededBytes);
    expect(reserved(running(null), GIB)).toBe(alone.neededBytes - GIB);
    expect(reserved(running(null), 99 * GIB)).toBe(0);
  });

  it('sets aside the mapped weights of a running CPU slot, and nothing for one on a GPU', () => {
    expect(reserved(running('cpu'))).toBe(2 * GIB);
    expect(reserved(running('vulkan'))).toBe(0);
  });

  it.each([
    ['', null, 'The slot has no model.'],
    ['model = "gone"', null, 'The model gone of the slot file was not found.'],
    ['model = "/srv/models/gone.gguf"', null, 'The model gone.gguf of the slot file was not found.'],
    [
      '',
      { ...model, type: 'embedding' as const },
      'tiny is an embedding model; the slot serves a chat model.',
    ],
  ])('%j: a slot without a fitting model is refused for good', (text, given, reason) => {
    const error = refusal(() => admit(slotConfig('agent', text), picture({ model: given })));
    expect([error.code, error.options.details?.reason]).toEqual(['slot.failed', reason]);
    expect(error.headers()).toEqual({ 'x-should-retry': 'false' });
  });
});
