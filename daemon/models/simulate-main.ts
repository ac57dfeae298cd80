/**
 * Child program that simulates contexts for the GGUF files in its arguments and prints one line of JSON for each. No
 * weights are read and no GPU is opened. llama.cpp ends the process at an impossible header.
 */
import { setPriority } from 'node:os';
import { GgufInsights, getLlama, LlamaLogLevel, readGgufFileInfo } from 'node-llama-cpp';
import { SIMULATED_BATCH, type SimulatedPoint, simulatedWindows } from './simulated-context.ts';

/** No request waits for the result. */
const LOW_PRIORITY = 10;
const LOGIT_BYTES = 4;
/** The library estimates on its own when the simulation fails, and only its log says so. */
const FELL_BACK = 'Falling back to estimation';

setPriority(LOW_PRIORITY);
let failed = false;
const llama = await getLlama({
  gpu: false,
  build: 'never',
  skipDownload: true,
  progressLogs: false,
  logLevel: LlamaLogLevel.warn,
  logger: (_, message) => {
    failed ||= message.includes(FELL_BACK);
  },
});

async function simulate(path: string): Promise<SimulatedPoint[]> {
  const info = await readGgufFileInfo(path, { logWarnings: false });
  const insights = await GgufInsights.from(info, llama);
  const { metadata, architectureMetadata } = info;
  const vocabulary = metadata.tokenizer?.ggml?.tokens?.length ?? architectureMetadata.vocab_size ?? 0;
  const bytesOf = async (contextSize: number, sequences: number, batchSize: number) => {
    const options = { contextSize, sequences, batchSize, modelGpuLayers: 0 };
    return (await insights.estimateContextResourceRequirementsV2(options)).cpuRam;
  };
  const points: SimulatedPoint[] = [];
  for (const context of simulatedWindows(insights.trainContextSize ?? null)) {
    const step = Math.min(context, SIMULATED_BATCH);
    const one = await bytesOf(context, 1, step);
    const windowBytes = (await bytesOf(context, 2, step)) - one;
    if (failed) return [];
    const buffers = one - windowBytes - LOGIT_BYTES * vocabulary * step;
    points.push({ context, windowBytes, stepBytes: Math.max(0, Math.round(buffers / step)) });
  }
  return points;
}

for (const path of process.argv.slice(2)) {
  failed = false;
  const points = await simulate(path).catch(() => []);
  process.stdout.write(`${JSON.stringify({ path, points })}\n`);
}
await llama.dispose();
