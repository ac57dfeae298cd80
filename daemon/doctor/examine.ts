import { CHECKS, type Check } from './checks/table.ts';
import type { DoctorInput } from './doctor-input.ts';
import { type Finding, warn } from './finding.ts';

/** Longest time of one check. */
const LIMIT_MS = 4_000;

/** A check that fails or hangs gives a finding and stops no other. */
async function guarded(
  id: string,
  check: Check,
  input: DoctorInput,
  limitMs: number,
): Promise<readonly Finding[]> {
  const failed = (reason: string) => [
    warn(id, `This check failed: ${reason}.`, 'Run svcctl doctor again; see the log of the gateway.'),
  ];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Finding[]>((resolve) => {
    timer = setTimeout(() => resolve(failed(`no result within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([(async () => check(input))(), late]);
  } catch (error) {
    return failed(error instanceof Error ? error.message : 'unknown error');
  } finally {
    clearTimeout(timer);
  }
}

/** Runs all checks concurrently. The findings have the order of the table. Never rejects. */
export async function examine(
  input: DoctorInput,
  checks: Readonly<Record<string, Check>> = CHECKS,
  limitMs = LIMIT_MS,
): Promise<Finding[]> {
  const found = Object.entries(checks).map(([id, check]) => guarded(id, check, input, limitMs));
  return (await Promise.all(found)).flat();
}
