import { asRecord, parseJson, type Tool } from './tools.ts';

/** What the NPU backend (FastFlowLM) says of the NPU stack. */
export interface FlmAnswer {
  ready: boolean;
  /** What stands in the way, for humans; null when ready. */
  problem: string | null;
}

/** Checks in the order in which a user has to fix them. */
const CHECKS: readonly (readonly [key: string, problem: string])[] = [
  ['kernel_ok', 'the kernel is too old'],
  [
    'amd_device_found',
    'it finds no NPU: the amdxdna driver is missing, or its device node is not accessible',
  ],
  ['all_fw_ok', "the NPU's firmware is too old"],
  ['memlock_ok', 'the locked-memory limit is too low (LimitMEMLOCK=infinity)'],
  ['enough_cols', 'the NPU has too few columns'],
];

/** Reads `flm validate --json`, which is valid JSON with exit status 1 too; null when it is none. */
export function parseFlm(text: string): FlmAnswer | null {
  const answer = asRecord(parseJson(text));
  if (typeof answer.ready !== 'boolean') return null;
  if (answer.ready) return { ready: true, problem: null };
  const failed = CHECKS.find(([key]) => answer[key] === false);
  return { ready: false, problem: failed?.[1] ?? 'it is not ready' };
}

/** Null when FastFlowLM is not installed or too old to tell. */
export async function readFlm(tool: Tool): Promise<FlmAnswer | null> {
  const result = await tool('flm', ['validate', '--json']);
  return result.missing ? null : parseFlm(result.stdout);
}
