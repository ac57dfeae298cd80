import { homedir } from 'node:os';
import { runCommand } from '../lib/process/run-command.ts';

/** The program that serves models on the NPU (FastFlowLM). */
export const NPU_PROGRAM = 'flm';

/** A model that the NPU backend has downloaded. */
export interface NpuModel {
  /** Its native tag, such as `llama3.2:1b`. */
  readonly tag: string;
  readonly type: 'llm' | 'embedding' | 'stt';
  /** Memory according to its maker; 0 when unknown. */
  readonly bytes: number;
  readonly tools: boolean;
}

const TAG = /^[a-z0-9][a-z0-9._-]{0,62}:[a-z0-9][a-z0-9._-]{0,31}$/i;
const MAX_MODELS = 256;
const GB = 1e9;
const LIMIT_MS = 10_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

type Json = Record<string, unknown>;
const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

function parsed(text: string): Json {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return {};
  }
}

const typeOf = (tag: string): NpuModel['type'] => {
  if (/^whisper/i.test(tag)) return 'stt';
  return /embed/i.test(tag) ? 'embedding' : 'llm';
};

/** Parses the installed models from `flm list --json`. Skips entries in another format. Pure. */
export function parseNpuList(text: string): NpuModel[] {
  const { models } = parsed(text);
  const listed = (Array.isArray(models) ? models : []).slice(0, MAX_MODELS).map(asObject);
  return listed.flatMap(({ name, installed, footprint, label }) => {
    if (installed !== true || typeof name !== 'string' || !TAG.test(name)) return [];
    const bytes = typeof footprint === 'number' && footprint > 0 ? Math.round(footprint * GB) : 0;
    const tools = Array.isArray(label) && label.includes('tool-calling');
    return [{ tag: name, type: typeOf(name), bytes, tools }];
  });
}

/**
 * Runs the program to list its models. Empty when it reports that this machine's NPU cannot be used. Null
 * when it does not respond (it exceeds `limitMs` or cannot be started), which says nothing about its models.
 * Never rejects.
 */
export async function npuModels(program: string, limitMs = LIMIT_MS): Promise<NpuModel[] | null> {
  const limits = { timeoutMs: limitMs, maxBytes: MAX_OUTPUT_BYTES, env: { HOME: homedir() } };
  const able = await runCommand(program, ['validate', '--json'], limits);
  const { ready } = parsed(able.stdout);
  if (ready !== true) return ready === false ? [] : null;
  const { code, stdout } = await runCommand(program, ['list', '--filter', 'installed', '--json'], limits);
  return code === 0 && Array.isArray(parsed(stdout).models) ? parseNpuList(stdout) : null;
}
