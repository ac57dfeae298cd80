import type { DoctorFacts } from '../facts.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';

const DAMAGED_FIX = 'Correct the file; a running gateway takes it up by itself.';

/** Every problem of config.toml, api.env, slot and upstream files, with file and line. */
export function configuration({ settings, fileProblems, halfRestored }: DoctorFacts): Finding[] {
  const hopeless = settings.hopeless();
  const found = [...settings.problems(), ...fileProblems].map(({ file, line, message }) => {
    const text = `${file}${line === null ? '' : `:${line}`} ${message}.`;
    return hopeless?.file === file
      ? fail('configuration', text, 'Correct it, or move it away to start with the defaults.')
      : warn('configuration', text, DAMAGED_FIX);
  });
  if (halfRestored) {
    const message = 'A restore was begun here and did not come to its end, so no gateway starts.';
    found.unshift(fail('configuration', message, 'Run svcctl restore with the same file again.'));
  }
  return found.length > 0 ? found : [ok('configuration', 'All settings, slot and upstream files are valid.')];
}
