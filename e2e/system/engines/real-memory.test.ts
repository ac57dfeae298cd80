/** The memory that real models take in the embedded engine on the CPU, against the estimate of admission. */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { SlotPlanView } from '../../../daemon/contract/slots.ts';
import { proportionalTreeMemory } from '../../../daemon/lib/process/process-memory.ts';
import type { GgufModel } from '../../../daemon/models/testing/gguf/writer.ts';
import { type Gateway, startGateway, until } from '../../../daemon/test/harness/gateway.ts';
import { newHome } from '../../../daemon/test/harness/home.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { runSlotAction, slot } from '../../../daemon/test/harness/slots.ts';
import { bertToGguf, readBert } from '../harness/bert-to-gguf.ts';
import { gemma3, minilm, qwen25, smollm2 } from '../harness/real-models.ts';
import { availableOrSkip } from '../harness/unavailable.ts';

/** Limits of the estimate as a multiple of the measured memory. */
const LIMITS = [0.95, 1.12] as const;
/**
 * A prompt leaves up to 160 MB of garbage with the vocabulary of Gemma, which V8 collects some seconds later: 603 MB at once,
 * 441 MB when it is idle. Load on the machine moves the measurement between both (docs/adr/0085-the-engine-loads-a-model-once.md).
 */
const GEMMA_LIMITS = [0.8, 1.15] as const;
/** Other load may move a measurement by a few percent, so an outlier is measured again. */
const RUNS = 3;
const MODEL = 'measured-model';
const WORDS = 'the cat sat on a mat and then'.split(' ');
const REQUEST_LIMIT_MS = 240_000;

const text = (words: number): string =>
  Array.from({ length: words }, (_, index) => WORDS[index % WORDS.length]).join(' ');

interface Measured {
  readonly estimated: number;
  readonly measured: number;
}

interface RealModel {
  readonly name: string;
  /** Downloads it. Returns the path of its file, or of its checkpoint to convert. */
  readonly download: () => Promise<string>;
  readonly convert?: (folder: string) => GgufModel;
  readonly slot: string;
  readonly keys: string;
  readonly limits: readonly [min: number, max: number];
  /** Sends one prompt that fills the window, up to a tenth. */
  readonly fill: (gateway: Gateway) => Promise<number>;
}

async function post(gateway: Gateway, path: string, body: unknown): Promise<number> {
  const answer = await send(gateway, 'POST', path, { body, idleTimeoutMs: REQUEST_LIMIT_MS });
  expect(answer.status, answer.text).toBe(200);
  return answer.json<{ usage: { prompt_tokens: number } }>().usage.prompt_tokens;
}

/** Waits until the header of the model was read, and returns the estimate. */
async function needOf(gateway: Gateway, name: string): Promise<SlotPlanView['need']> {
  const planned = () => send(gateway, 'GET', `/api/slots/${name}/plan`);
  await until(async () => (await planned()).status === 200, 'the model to be registered', 60_000);
  return (await planned()).json<SlotPlanView>().need;
}

const CONTEXT = 2048;
const chat = (
  name: string,
  download: () => Promise<string>,
  limits: RealModel['limits'] = LIMITS,
): RealModel => ({
  ...{ name, download, limits },
  slot: 'agent',
  keys: `context = ${CONTEXT}\n`,
  fill: async (gateway) => {
    const messages = [{ role: 'user', content: text(1800) }];
    const tokens = await post(gateway, '/v1/chat/completions', { model: 'agent', messages, max_tokens: 16 });
    return tokens / CONTEXT;
  },
});

const TEXTS = 8;
const POSITIONS = 512;
const MODELS: readonly RealModel[] = [
  chat('SmolLM2 135M', smollm2),
  chat('Gemma 3 270M', gemma3, GEMMA_LIMITS),
  chat('Qwen2.5 Coder 0.5B', qwen25),
  {
    name: 'MiniLM L6',
    download: minilm,
    convert: (folder) => bertToGguf(readBert(folder, MODEL)),
    limits: LIMITS,
    slot: 'embed',
    keys: 'type = "embedding"\n',
    fill: async (gateway) => {
      const input = Array.from({ length: TEXTS }, () => text(480));
      return (await post(gateway, '/v1/embeddings', { model: 'embed', input })) / (TEXTS * POSITIONS);
    },
  },
];

describe.each(MODELS)('$name on the CPU', async (model) => {
  const file = await availableOrSkip(`the memory of ${model.name}`, model.download);
  const [min, max] = model.limits;
  let gateway: Gateway | undefined;

  afterEach(async () => {
    await gateway?.stop();
    gateway?.remove();
    gateway = undefined;
  });

  async function measure(): Promise<Measured> {
    const home = newHome();
    const models = join(home, 'state', 'models');
    if (model.convert === undefined) {
      mkdirSync(models, { recursive: true });
      symlinkSync(file ?? '', join(models, `${MODEL}.gguf`));
    }
    gateway = await startGateway({
      home,
      models: model.convert === undefined ? {} : { [MODEL]: model.convert(file ?? '') },
      files: {
        'config/slots/agent.toml': 'enabled = false\n',
        [`config/slots/${model.slot}.toml`]: `model = "${MODEL}"\ndevice = "cpu"\nautoload = false\n${model.keys}`,
      },
    });
    const need = await needOf(gateway, model.slot);
    expect(need.source).toBe('estimated');
    expect((await runSlotAction(gateway, model.slot, 'load')).status).toBeLessThan(300);
    const { pid } = await slot(gateway, model.slot);
    expect(await model.fill(gateway)).toBeGreaterThan(0.85);
    const memory = await proportionalTreeMemory(pid ?? 0);
    await gateway.stop();
    gateway.remove();
    return { estimated: need.total, measured: memory?.resident ?? 0 };
  }

  it.skipIf(file === null)(
    `the estimate is ${min} to ${max} times the memory after a full prompt`,
    async () => {
      const ratios: number[] = [];
      const isWithin = (ratio = Number.NaN) => ratio >= min && ratio <= max;
      while (ratios.length < RUNS && !(ratios.length === 1 && isWithin(ratios[0]))) {
        const { estimated, measured } = await measure();
        ratios.push(estimated / measured);
      }
      const median = ratios.toSorted((a, b) => a - b)[Math.floor(ratios.length / 2)];
      console.log(
        `memory of ${model.name}: estimate / measured = ${ratios.map((one) => one.toFixed(3)).join(', ')}`,
      );
      expect(isWithin(median), `${ratios}`).toBe(true);
    },
    600_000,
  );
});
