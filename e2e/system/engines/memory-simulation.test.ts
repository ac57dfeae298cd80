/** The memory estimate against llama.cpp's own simulation of published and random models, without weights. */
import { join } from 'node:path';
import fc from 'fast-check';
import { GgufInsights, readGgufFileInfo } from 'node-llama-cpp';
import { beforeAll, describe, expect, it } from 'vitest';
import { scratchOfFile } from '../../../daemon/lib/testing/scratch.ts';
import { type GgufMetadata, readGgufMetadata } from '../../../daemon/models/gguf-metadata.ts';
import { simulateInChild } from '../../../daemon/models/simulate-in-child.ts';
import { SIMULATED_BATCH, type SimulatedContext } from '../../../daemon/models/simulated-context.ts';
import { writeModelHeader } from '../../../daemon/models/testing/gguf/model-header.ts';
import type { PublishedModel } from '../../../daemon/models/testing/gguf/model-keys.ts';
import {
  PUBLISHED_ENCODERS,
  PUBLISHED_MODELS,
} from '../../../daemon/models/testing/gguf/published-models.ts';
import { randomModel } from '../../../daemon/models/testing/gguf/random-models.ts';
import {
  type EvaluatedLaunch,
  evaluationOf,
  needOf,
} from '../../../daemon/slots/admission/memory-estimate.ts';
import { fuzzing } from '../../../daemon/test/harness/scale.ts';

const folder = scratchOfFile();
const pathOf = ({ name }: PublishedModel) => join(folder, `${name.replaceAll(/\W+/g, '-')}.gguf`);

const launch = (context: number, sequences = 1, batch = 512): EvaluatedLaunch => ({
  engine: 'embedded',
  type: 'llm',
  context,
  sequences,
  parallel: sequences,
  batch,
});
/** Windows, sequences and steps of a chat slot. */
const CHAT = [launch(8192), launch(32_768), launch(131_072), launch(8192, 4), launch(16_384, 2, 1024)];

/** Returns the bytes of a context as estimated, without the weights and the program. */
function estimated(metadata: GgufMetadata, simulated: SimulatedContext | null, evaluated: EvaluatedLaunch) {
  const size = { ...metadata, simulated, measuredBytes: null };
  // Checkpoints are counted on the host only, and llama.cpp does not simulate them.
  const { window } = needOf(size, evaluationOf(evaluated, true));
  // It simulates what is allocated. On the host the estimate counts what is written.
  const allocated = { outputs: evaluated.batch, returnsVectors: false };
  const { compute } = needOf(size, { ...evaluationOf(evaluated, false), ...allocated });
  return window + compute;
}

/** Returns the bytes that llama.cpp allocates for a context. */
async function simulated(model: PublishedModel, evaluated: EvaluatedLaunch): Promise<number> {
  const info = await readGgufFileInfo(pathOf(model), { logWarnings: false });
  const { cpuRam } = await (await GgufInsights.from(info)).estimateContextResourceRequirementsV2({
    contextSize: evaluated.context,
    sequences: evaluated.sequences,
    batchSize: evaluated.batch,
    isEmbeddingContext: evaluated.type !== 'llm',
    modelGpuLayers: 0,
  });
  return cpuRam;
}

describe('the estimate against a simulation of llama.cpp without weights', () => {
  const points = new Map<string, SimulatedContext>();

  beforeAll(async () => {
    await Promise.all(
      [...PUBLISHED_MODELS, ...PUBLISHED_ENCODERS].map((one) => writeModelHeader(pathOf(one), one)),
    );
    const results = await simulateInChild(PUBLISHED_MODELS.map(pathOf));
    for (const [index, { name }] of PUBLISHED_MODELS.entries()) points.set(name, results[index] ?? []);
  }, 300_000);

  it.each(PUBLISHED_MODELS.map((model) => [model.name, model] as const))(
    '%s',
    async (name, model) => {
      const metadata = await readGgufMetadata(pathOf(model));
      expect(points.get(name)).not.toEqual([]);
      for (const evaluated of CHAT) {
        const bytes = await simulated(model, evaluated);
        const closed = estimated(metadata, null, evaluated) / bytes;
        const exact = estimated(metadata, points.get(name) ?? null, evaluated) / bytes;
        expect(closed).toBeGreaterThan(0.92);
        expect(closed).toBeLessThan(1.15);
        expect(exact).toBeGreaterThan(0.95);
        expect(exact).toBeLessThan(1.12);
      }
    },
    120_000,
  );

  it.each(
    PUBLISHED_ENCODERS.flatMap((model) =>
      [512, 2048, 8192].map((context) => [model.name, context, model] as const),
    ),
  )('%s with a window of %d', async (_, context, model) => {
    const metadata = await readGgufMetadata(pathOf(model));
    if (context > (metadata.contextTrain ?? 0)) return;
    const batch = metadata.readsInSteps ? Math.min(context, 2048) : context;
    const evaluated = { ...launch(context, 1, batch), type: metadata.type };
    const ratio = estimated(metadata, null, evaluated) / (await simulated(model, evaluated));
    expect(ratio).toBeGreaterThan(0.92);
    expect(ratio).toBeLessThan(1.15);
  });

  it('is at least 92 % of it for any legal header', async () => {
    const isEnough = async (models: readonly PublishedModel[]) => {
      const named = models.map((model, index) => ({ ...model, name: `random-${index}` }));
      await Promise.all(named.map((model) => writeModelHeader(pathOf(model), model)));
      const results = await simulateInChild(named.map(pathOf));
      for (const [index, model] of named.entries()) {
        const metadata = await readGgufMetadata(pathOf(model));
        const ratios = (results[index] ?? []).map(({ context, windowBytes, stepBytes }) => {
          const step = Math.min(context, SIMULATED_BATCH);
          const bytes = windowBytes + (stepBytes + 4 * model.vocabulary) * step;
          return estimated(metadata, null, launch(context, 1, step)) / bytes;
        });
        expect(ratios, `simulated: ${JSON.stringify(model)}`).not.toEqual([]);
        expect(Math.min(...ratios), JSON.stringify(model)).toBeGreaterThanOrEqual(0.92);
      }
    };
    // One child process simulates eight models. A failure names its seed and its model, without smaller ones.
    const models = fc.array(randomModel, { minLength: 8, maxLength: 8 });
    const parameters = { ...fuzzing('headers of models', 50), endOnFailure: true };
    await fc.assert(fc.asyncProperty(models, isEnough), parameters);
  }, 600_000);
});
