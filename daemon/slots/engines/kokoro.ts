import type { SlotConfig } from '../config/slot-config.ts';
import { checksOf } from './checks.ts';
import { attachSpec, commonLaunch, containerSpec, processSpec } from './common.ts';
import type { Engine, Launch, LaunchParams } from './engine.ts';
import { GIB, programMemory } from './program-memory.ts';
import type { Probe } from './run-spec.ts';
import { backendOf } from './visible-devices.ts';

const PROBE: Probe = { path: '/health', loading: [503] };
const START_LIMIT_MS = 300_000;
/** The name of the server's only model. */
const MODEL = 'kokoro';

function plan(params: LaunchParams): Launch {
  const { config } = params;
  const common = commonLaunch(params, { nativeRerank: false, model: MODEL });
  if (config.runner === 'attach') return { ...common, how: attachSpec(config, PROBE) };
  const launch = { ...common, startLimitMs: START_LIMIT_MS };
  const start = { key: { by: 'none' }, probe: PROBE, args: [] } as const;
  if (config.runner === 'container') {
    const kind = backendOf(config.device) === 'cuda' ? 'gpu' : 'cpu';
    const image = `ghcr.io/remsky/kokoro-fastapi-${kind}:latest`;
    return { ...launch, how: containerSpec(config, null, { ...start, image, port: 8880 }) };
  }
  const install = 'Install Kokoro-FastAPI and name how it starts: command = ["/path/uvicorn", …].';
  return { ...launch, how: processSpec(config, { ...start, command: 'uvicorn', install }) };
}

function objection(config: SlotConfig): string | null {
  if (config.runner === 'process' && config.command === null) {
    return 'command: engine kokoro needs its program, such as ["/path/uvicorn", "api.src.main:app", "--host", "{host}", "--port", "{port}"]';
  }
  if (['auto', 'cpu', 'cuda'].includes(backendOf(config.device))) return null;
  return `device: engine kokoro runs on auto, cpu or cuda:N, not on ${config.device}`;
}

/** Kokoro-FastAPI: speech with an OpenAI-style API and one built-in model. It has no keys. */
export const kokoro: Engine = {
  id: 'kokoro',
  types: new Set(['tts']),
  runners: new Set(['attach', 'container', 'process']),
  modelSource: () => 'name',
  objection,
  plan,
  streams: false,
  context: () => 0,
  memory: programMemory({ engine: 2 * GIB, unknown: GIB / 2, compute: GIB / 2 }),
  checks: (launch) => checksOf(launch, { health: '/health', models: false }),
};
