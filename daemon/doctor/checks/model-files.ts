import type { DoctorInput } from '../doctor-input.ts';
import { type Finding, warn } from '../finding.ts';

/** Maximum files that are named one by one. */
const MAX_NAMED = 50;

/** Files in the model folders that the running gateway cannot use, with the reason and what to do. */
export function modelFiles({ gateway }: DoctorInput): Finding[] {
  const { modelProblems } = gateway;
  const named = modelProblems.slice(0, MAX_NAMED).map(({ file, reason, advice }) => {
    const text = `${file}: ${reason}`;
    return warn('models', /[.!?]$/.test(text) ? text : `${text}.`, advice ?? 'See svcctl models scan.');
  });
  const more = modelProblems.length - named.length;
  return more > 0
    ? [...named, warn('models', `${more} more files cannot be used.`, 'See svcctl models list.')]
    : named;
}
