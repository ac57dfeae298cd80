import type { DoctorInput } from '../doctor-input.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';

const DAMAGED_FIX = 'Correct the file; a running gateway reloads it automatically.';

/** The message of an unreadable file. */
const DENIED = /\((?:EACCES|EPERM)\)/;

/** Every problem of config.toml, api.env, slot and upstream files, with file and line. */
export function configuration({ settings, user, fileProblems, isRestoreIncomplete }: DoctorInput): Finding[] {
  const fatal = settings.fatalConfigError();
  const denied = settings.denied();
  const problems = [...settings.problems(), ...fileProblems].filter(
    ({ message }) => denied.length === 0 || !DENIED.test(message),
  );
  const found = problems.map(({ file, line, message }) => {
    const text = `${file}${line === null ? '' : `:${line}`} ${message}.`;
    return fatal?.file === file
      ? fail('configuration', text, 'Correct it, or move it away to start with the defaults.')
      : warn('configuration', text, DAMAGED_FIX);
  });
  if (denied.length > 0) {
    const message = `${user.name} cannot read ${denied.join(' and ')}; checks that depend on it are skipped.`;
    found.unshift(
      warn('configuration', message, 'Run svcctl doctor with sudo, or as the user of the service.'),
    );
  }
  if (isRestoreIncomplete) {
    const message = 'A restore was started here and did not finish, so the gateway does not start.';
    found.unshift(fail('configuration', message, 'Run svcctl restore with the same file again.'));
  }
  return found.length > 0 ? found : [ok('configuration', 'All settings, slot and upstream files are valid.')];
}
